#include "control/plan/planner_meters.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace slackline::control {
namespace {

// Fine where the goal is: 0.25 s.
std::vector<double> first_write_bounds_s() {
  return {0.005, 0.01,  0.025, 0.05, 0.075, 0.1, 0.125, 0.15, 0.175,
          0.2,   0.225, 0.25,  0.3,  0.5,   1,   2.5,   5};
}

}  // namespace

PlannerMeters::PlannerMeters(obs::MetricsRegistry& metrics)
    : metrics_(metrics),
      plan_duration_(metrics.histogram("slackline_plan_duration_seconds", obs::latency_bounds_s())),
      first_write_(
          metrics.histogram("slackline_event_to_first_write_seconds", first_write_bounds_s())),
      leads_(metrics.gauge("slackline_leader")),
      running_(metrics.gauge("slackline_queue_running")),
      unreviewed_(metrics.gauge("slackline_unreviewed_jobs")) {}

void PlannerMeters::show_nothing() {
  for (auto& [queue_and_class, gauge] : lengths_)
    gauge.set(0);
  for (auto& [queue, gauge] : budgets_)
    gauge.set(0);
  for (auto& [share, gauge] : shares_)
    gauge.set(0);
  running_.set(0);
  unreviewed_.set(0);
}

void PlannerMeters::show_queue(const core::Queue& queue) {
  std::map<std::pair<std::string, std::string>, double> lengths;
  for (core::TaskIndex task = 0; task < queue.size(); ++task) {
    const core::QueueTask& waiting = queue.task(task);
    if (waiting.plan) continue;
    lengths[{queue_of(*waiting.intent, waiting.key.ns),
             std::string(to_string(waiting.intent->qos_class.value_or(QosClass::kNormal)))}] += 1;
  }
  for (auto& [key, gauge] : lengths_)
    if (!lengths.contains(key)) gauge.set(0);
  for (const auto& [key, length] : lengths) {
    const auto at = lengths_.find(key);
    const obs::Gauge gauge = at != lengths_.end()
                                 ? at->second
                                 : metrics_.gauge("slackline_queue_length",
                                                  {{"queue", key.first}, {"class", key.second}});
    lengths_.emplace(key, gauge);
    gauge.set(length);
  }
  running_.set(static_cast<double>(queue.state().running().size()));
}

void PlannerMeters::show_budgets(const core::Queue& queue, const std::vector<double>& left_gpu_s) {
  for (std::size_t i = 0; i < std::min(left_gpu_s.size(), queue.queue_names().size()); ++i) {
    const std::string& name = queue.queue_names()[i];
    auto at = budgets_.find(name);
    if (at == budgets_.end()) {
      obs::Gauge gauge =
          metrics_.gauge("slackline_preemption_budget_gpu_seconds", {{"queue", name}});
      at = budgets_.emplace(name, gauge).first;
    }
    at->second.set(left_gpu_s[i]);
  }
}

void PlannerMeters::show_shares(const ShareLedger& ledger) {
  for (auto& [key, gauge] : shares_)
    gauge.set(0);
  for (const ShareLine& line : ledger.lines)
    for (const auto& [use, gpus] : {std::pair<const char*, std::int64_t>{"own", line.own},
                                    {"borrowed", line.borrowed},
                                    {"pool", line.of_pool}}) {
      const std::array<std::string, 3> key = {line.queue, line.gpu_type, use};
      auto at = shares_.find(key);
      if (at == shares_.end())
        at = shares_
                 .emplace(key, metrics_.gauge("slackline_share_gpus", {{"queue", line.queue},
                                                                       {"gpu_type", line.gpu_type},
                                                                       {"use", use}}))
                 .first;
      at->second.set(static_cast<double>(gpus));
    }
}

}  // namespace slackline::control
