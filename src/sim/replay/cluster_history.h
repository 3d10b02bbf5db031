// ClusterHistory: GPU Jobs and GPU nodes of a cluster's past, from the answers to the queries of
// history_queries.h.
//
//   task      the pods of one Job (namespace, name, creation) that asked for whole GPUs
//   GPUs      as many pods as ran at the same time, times the GPUs of one
//   wait      from the Job's creation until so many of its pods were bound
//   run       while any of its pods ran, from then on: pods that ran one after the other, as after
//             a failure or a suspension, are one run without the gaps
//   end       of a pod that ended: when its last container did; of one that was deleted: when it
//   was
//             last seen; of one that still runs: the end of the time that was read
//   platform  for each GPU type and size of a node, the most nodes that were there at once, at
//             one of the points of kNodeGpus' answers
//
// What is left out is counted in the remarks, one sentence each. Pure; not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sim/replay/history_queries.h"
#include "slackline/base/result.h"
#include "slackline/core/planning/cost.h"
#include "slackline/model/gpu_catalog.h"
#include "slackline/model/ids.h"
#include "wire/telemetry/prometheus_codec.h"

namespace slackline::sim {

struct TimeSpan {
  double from_s = 0;  // epoch seconds
  double to_s = 0;
};

struct HistoryJob {
  std::string ns;
  std::string name;
  double submit_s = 0;  // epoch seconds; not before the time that was read
  double start_s = 0;
  double end_s = 0;
  double run_s = 0;  // at most end - start
  int pods = 1;
  int gpus_per_pod = 1;
  GpuType type;  // where most of its pods ran

  std::int64_t gpus() const { return std::int64_t{pods} * gpus_per_pod; }
};

struct History {
  TimeSpan time;                 // of which there are data
  std::vector<HistoryJob> jobs;  // by submission
  std::vector<core::Pool> pools;
  std::vector<std::string> remarks;
};

class ClusterHistory {
 public:
  explicit ClusterHistory(GpuCatalog catalog, double step_s = 60);

  // The answer to history_promql(fact) over this window: of kNodeGpus with a point every
  // kNodeStep_s, of the others with one.
  void add(HistoryFact fact, const TimeSpan& window, std::span<const wire::Series> answer);

  // `asked`: the time that all windows together cover. kNotFound says what there is no sample of,
  // and what to do; kInvalidArgument: the series are of several clusters; kResourceExhausted: more
  // than kMostHistoryJobs.
  Result<History> history(const TimeSpan& asked) const;

 private:
  struct Pod {
    std::string ns;
    std::string name;
    std::string owner_kind;
    std::string owner;
    std::string node;
    std::map<std::string, std::int64_t> gpus;  // whole ones, by container
    bool parts = false;                        // it asks for parts of GPUs
    bool ended = false;
    std::optional<double> created_s;
    std::optional<double> bound_s;
    std::optional<double> started_s;
    std::optional<double> completed_s;
    double last_seen_s = 0;

    std::int64_t whole() const;
    std::optional<double> begin_s() const { return bound_s ? bound_s : started_s; }
  };
  using JobKey = std::pair<std::string, std::string>;  // namespace, name
  using JobRun = std::pair<JobKey, double>;            // of the Job that was created then
  using NodeGpus = std::map<std::string, int>;         // by node
  struct Counts;

  void add_pod(HistoryFact fact, const wire::Series& series);
  void add_gpus(Pod& pod, const wire::Series& series) const;
  void add_node_labels(const wire::Series& series);
  void add_instant(const TimeSpan& window, std::span<const wire::Series> answer);
  Status check(const TimeSpan& asked) const;
  TimeSpan read_time(const TimeSpan& asked) const;
  GpuType type_of(const std::string& node) const;
  std::vector<core::Pool> pools(std::vector<std::string>& remarks) const;
  std::int64_t most_gpus_held(const TimeSpan& time) const;
  void say_of_nodes(double gpus, History& history) const;
  std::optional<TimeSpan> run_of(const Pod& pod, const TimeSpan& time) const;
  double created_of(const Pod& pod) const;
  std::map<JobRun, std::vector<const Pod*>> job_runs(const TimeSpan& time, Counts& counts) const;
  std::optional<HistoryJob> job_of(const JobRun& run, const std::vector<const Pod*>& pods,
                                   const TimeSpan& time, Counts& counts) const;

  GpuCatalog catalog_;
  double step_s_;
  std::set<std::string> whole_resources_;  // as metrics name them
  std::map<std::string, Pod> pods_;        // by uid
  std::map<JobKey, std::set<double>> created_;
  std::map<std::string, Labels> node_labels_;
  std::map<std::string, std::string> models_;  // by node
  std::vector<NodeGpus> nodes_;  // as they were one after the other, each other than the one before
  int node_counts_ = 0;          // times at which nodes were counted
  double nodes_seen_s_ = 0;      // the last of them
  TimeSpan without_nodes_;       // the longest time between two of them
  std::optional<double> data_from_s_;
  std::set<std::string> clusters_;
  std::set<HistoryFact> answered_;  // with a sample
};

// Between the times at which nodes are counted: those of a cluster autoscaler live no shorter.
inline constexpr double kNodeStep_s = 600;

inline constexpr std::size_t kMostHistoryJobs = 100'000;

}  // namespace slackline::sim
