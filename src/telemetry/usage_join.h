// UsageJoin: series of a Prometheus become what tasks used. Pure.
//
// A series counts for the pod that it names if that pod is asked for; all others, such as those of
// an exporter's own pod, are nobody's. The same GPU (or container) of the same pod counts once,
// with the greatest value, however often it was scraped. docs/TELEMETRY.md has every case.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "slackline/model/usage.h"
#include "telemetry/labels.h"
#include "telemetry/measured_tasks.h"
#include "telemetry/usage_queries.h"
#include "telemetry/usage_timeline.h"

namespace slackline::telemetry {

class UsageJoin {
 public:
  // `tasks` and `names` outlive it. A pod is found by its name.
  UsageJoin(std::span<const MeasuredTask> tasks, const Steps& steps, const LabelNames& names);

  // How many values of these pods were impossible: a step with one was not measured.
  std::size_t add(Quantity quantity, const std::vector<wire::Series>& series);

  // One sample a task, in their order.
  std::vector<UsageSample> samples() const { return samples(steps_.window); }
  // A sample for each step and each task that has a part in it, by time.
  std::vector<UsageSample> samples_of_steps() const;

 private:
  using Parts = std::map<std::string, Timeline>;  // by GPU, or by container
  struct PodUse {
    std::array<Parts, kQuantityCount> parts;
    std::set<std::string> devices;
  };

  // How many of its values were impossible.
  std::size_t take(PodUse& use, Quantity quantity, const std::string& part,
                   const wire::Series& series) const;
  // Whether two pods were measured on the GPU at one time.
  bool several_use(const std::string& device) const;
  std::vector<UsageSample> samples(const Window& within) const;
  UsageSample sample_of(const MeasuredTask& task, const Window& window) const;
  bool shared(const MeasuredTask& task) const;
  std::optional<Usage> of_gpus(const MeasuredTask& task, const Window& window, Quantity mean,
                               Quantity max) const;
  std::optional<Usage> of_pods(const MeasuredTask& task, const Window& window, Quantity mean,
                               Quantity max) const;
  const PodUse* use_of(const MeasuredTask& task, const MeasuredPod& pod) const;

  const std::span<const MeasuredTask> tasks_;
  const Steps steps_;
  const LabelNames& names_;
  std::map<ObjectKey, PodUse> uses_;  // of every pod that is asked for
  std::unordered_map<std::string, std::set<const PodUse*>> users_;  // of a GPU
  std::set<std::string> marked_shared_;                             // by the exporter
};

}  // namespace slackline::telemetry
