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
    : plan_duration_(metrics.histogram("slackline_plan_duration_seconds", obs::latency_bounds_s())),
      first_write_(
          metrics.histogram("slackline_event_to_first_write_seconds", first_write_bounds_s())),
      leads_(metrics.gauge("slackline_leader")),
      running_(metrics.gauge("slackline_queue_running")),
      unreviewed_(metrics.gauge("slackline_unreviewed_jobs")),
      lengths_([&metrics](const auto& key) {
        return metrics.gauge("slackline_queue_length", {{"queue", key[0]}, {"class", key[1]}});
      }),
      budgets_([&metrics](const auto& key) {
        return metrics.gauge("slackline_preemption_budget_gpu_seconds", {{"queue", key[0]}});
      }),
      shares_([&metrics](const auto& key) {
        return metrics.gauge("slackline_share_gpus",
                             {{"queue", key[0]}, {"gpu_type", key[1]}, {"use", key[2]}});
      }) {}

void PlannerMeters::show_nothing() {
  lengths_.show({});
  budgets_.show({});
  shares_.show({});
  running_.set(0);
  unreviewed_.set(0);
}

void PlannerMeters::show_queue(const core::Queue& queue) {
  GaugesByName<2>::Values lengths;
  for (core::TaskIndex task = 0; task < queue.size(); ++task) {
    const core::QueueTask& waiting = queue.task(task);
    if (waiting.plan) continue;
    lengths[{queue_of(*waiting.intent, waiting.key.ns),
             std::string(to_string(waiting.intent->qos_class.value_or(QosClass::kNormal)))}] += 1;
  }
  lengths_.show(lengths);
  running_.set(static_cast<double>(queue.state().running().size()));
}

void PlannerMeters::show_budgets(const core::Queue& queue, const std::vector<double>& left_gpu_s) {
  GaugesByName<1>::Values left;
  for (std::size_t i = 0; i < std::min(left_gpu_s.size(), queue.queue_names().size()); ++i)
    left[{queue.queue_names()[i]}] = left_gpu_s[i];
  budgets_.renew(left);
}

void PlannerMeters::show_shares(const ShareLedger& ledger) {
  GaugesByName<3>::Values shares;
  for (const ShareLine& line : ledger.lines)
    for (const auto& [use, gpus] : {std::pair<const char*, std::int64_t>{"own", line.own},
                                    {"borrowed", line.borrowed},
                                    {"pool", line.of_pool}})
      shares[{line.queue, line.gpu_type, use}] = static_cast<double>(gpus);
  shares_.show(shares);
}

}  // namespace slackline::control
