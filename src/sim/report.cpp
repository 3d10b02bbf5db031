#include "sim/report.h"

#include <algorithm>
#include <cmath>

#include "slackline/base/text.h"
#include "slackline/core/planning/deadline.h"
#include "wire/format/json_writer.h"

namespace slackline::sim {
namespace {

double percent(double part, double whole) {
  return whole > 0 ? 100 * part / whole : 0;
}

struct ClassCount {
  std::int64_t tasks = 0;
  std::int64_t met = 0;
};

void count_met(const core::TaskTable& tasks, const Outcome& outcome, Report& report) {
  ClassCount all;
  ClassCount of[3];  // by QosClass
  for (core::TaskIndex t = 0; t < tasks.size(); ++t) {
    const TaskOutcome& task = outcome.tasks[t];
    ClassCount& own = of[static_cast<std::size_t>(tasks[t].qos)];
    ++all.tasks;
    ++own.tasks;
    if (!task.finished) ++report.unserved;
    if (!task.finished || task.finish_s > tasks[t].deadline_s + core::kDeadlineTolerance_s)
      continue;
    ++all.met;
    ++own.met;
  }
  const auto share = [](std::int64_t met, std::int64_t whole) {
    return percent(static_cast<double>(met), static_cast<double>(whole));
  };
  const ClassCount& prior = of[static_cast<std::size_t>(QosClass::kPrior)];
  const ClassCount& normal = of[static_cast<std::size_t>(QosClass::kNormal)];
  const ClassCount& urgent = of[static_cast<std::size_t>(QosClass::kUrgent)];
  report.tasks = all.tasks;
  report.q = share(all.met, all.tasks);
  report.q_no_urgent = share(all.met, all.tasks - urgent.tasks);
  report.q_prior = share(prior.met, prior.tasks);
  report.q_normal = share(normal.met, normal.tasks);
}

void measure_latency(const core::TaskTable& tasks, const Outcome& outcome, Report& report) {
  std::vector<double> norms;
  double sum = 0;
  double urgent_sum = 0;
  std::int64_t urgent = 0;
  for (core::TaskIndex t = 0; t < tasks.size(); ++t) {
    const TaskOutcome& task = outcome.tasks[t];
    if (!task.finished) continue;
    const double base_s = tasks[t].menu->base_s;
    const double norm = (task.finish_s - tasks[t].submit_s) / base_s;
    const double wait_s = task.first_start_s - tasks[t].submit_s;
    norms.push_back(norm);
    sum += norm;
    if (tasks[t].qos == QosClass::kUrgent) {
      urgent_sum += norm;
      ++urgent;
    }
    report.max_norm_wait = std::max(report.max_norm_wait, wait_s / base_s);
    report.mean_wait_h += wait_s / 3600;
    report.max_wait_h = std::max(report.max_wait_h, wait_s / 3600);
    report.makespan_h = std::max(report.makespan_h, task.finish_s / 3600);
  }
  if (norms.empty()) return;
  std::sort(norms.begin(), norms.end());
  const double last = static_cast<double>(norms.size() - 1);
  report.norm_latency = sum / static_cast<double>(norms.size());
  report.mean_wait_h /= static_cast<double>(norms.size());
  report.norm_latency_p95 = norms[static_cast<std::size_t>(std::floor(0.95 * last))];
  if (urgent > 0) report.urgent_latency = urgent_sum / static_cast<double>(urgent);
}

std::string_view name_of(core::RunEvent kind) {
  switch (kind) {
    case core::RunEvent::kStart:
      return "start";
    case core::RunEvent::kFinish:
      return "finish";
    case core::RunEvent::kPreempt:
      break;
  }
  return "preempt";
}

}  // namespace

Report make_report(const core::TaskTable& tasks, const Platform& platform,
                   const core::Policy& policy, const Outcome& outcome) {
  Report report;
  report.policy = std::string(policy.family);
  count_met(tasks, outcome, report);
  measure_latency(tasks, outcome, report);
  double last_submit_s = 0;
  for (const core::PlanTask& task : tasks.tasks())
    last_submit_s = std::max(last_submit_s, task.submit_s);
  report.util = percent(outcome.gpu_seconds, platform.gpus() * report.makespan_h * 3600);
  report.util_arrivals = percent(outcome.gpu_seconds_arrivals, platform.gpus() * last_submit_s);
  report.gpu_hours = outcome.gpu_seconds / 3600;
  report.preemptions = outcome.preemptions;
  report.lost_gpu_hours = outcome.lost_gpu_seconds / 3600;
  for (const TaskOutcome& task : outcome.tasks)
    report.most_stops = std::max(report.most_stops, task.stops);
  report.events = outcome.batches;
  return report;
}

std::string format_report_json(const Report& report) {
  std::string out = "{\n";
  const auto field = [&](std::string_view name, const auto& write) {
    wire::JsonWriter json;
    write(json);
    out += format("{} \"{}\": {}", out.size() > 2 ? ",\n" : "", name, json.str());
  };
  const auto number = [&](std::string_view name, double value) {
    field(name, [&](wire::JsonWriter& json) { json.number(value); });
  };
  const auto integer = [&](std::string_view name, std::int64_t value) {
    field(name, [&](wire::JsonWriter& json) { json.integer(value); });
  };
  field("policy", [&](wire::JsonWriter& json) { json.string(report.policy); });
  integer("tasks", report.tasks);
  if (report.unserved > 0) integer("unserved", report.unserved);
  number("q", report.q);
  number("q_no_urgent", report.q_no_urgent);
  number("q_prior", report.q_prior);
  number("q_normal", report.q_normal);
  number("makespan_h", report.makespan_h);
  number("norm_latency", report.norm_latency);
  number("norm_latency_p95", report.norm_latency_p95);
  number("max_norm_wait", report.max_norm_wait);
  number("max_wait_h", report.max_wait_h);
  number("urgent_latency", report.urgent_latency);
  number("util", report.util);
  number("util_arrivals", report.util_arrivals);
  number("gpu_hours", report.gpu_hours);
  integer("preemptions", report.preemptions);
  integer("resizes", report.resizes);
  integer("events", report.events);
  return out + "\n}\n";
}

std::string format_events_csv(const core::TaskTable& tasks, const Platform& platform,
                              const Outcome& outcome) {
  std::string out = "time_s,event,task,pool,d_node,d_gn,nodes\r\n";
  for (const EventRow& row : outcome.events) {
    const core::Choice& choice = tasks[row.task].menu->all[row.run.choice];
    out += format("{:.6f},{},{},{},{},{},{}\r\n", row.time_s, name_of(row.kind), tasks[row.task].id,
                  platform.pools[choice.pool].type.str(), choice.shape.d_node, choice.shape.d_gpn,
                  fmt::join(row.run.nodes, "+"));
  }
  return out;
}

}  // namespace slackline::sim
