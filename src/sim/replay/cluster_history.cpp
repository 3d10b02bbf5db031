#include "sim/replay/cluster_history.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <tuple>

#include "slackline/base/duration.h"
#include "slackline/base/text.h"

namespace slackline::sim {
namespace {

constexpr double kMostGpusOfContainer = 1024;
constexpr double kLongestGap = 3;      // in kNodeStep_s, that is not told: a few scrapes may fail
constexpr double kSameCreation_s = 1;  // kube-state-metrics cuts to whole seconds

// A label, or what a Prometheus made of it where its own target has one of that name.
std::string label_of(const wire::Series& series, std::string_view name) {
  const std::string_view exported = series.label(format("exported_{}", name));
  return std::string(exported.empty() ? series.label(name) : exported);
}

double value_of(const wire::Series& series) {
  return series.points.empty() ? 0 : series.points.back().value;
}

// When pods of a Job ran.
struct JobTimes {
  double start_s = 0;  // as many pods are bound as ever ran at once
  double end_s = 0;
  double run_s = 0;
  int pods = 0;
  bool interrupted = false;
};

// Of how many more there are from a time on.
using Changes = std::vector<std::pair<double, std::int64_t>>;

void add_span(Changes& changes, const TimeSpan& span, std::int64_t count) {
  changes.emplace_back(span.from_s, count);
  changes.emplace_back(span.to_s, -count);
}

// The first time at which there are most, and how many.
std::pair<double, std::int64_t> peak_of(Changes changes) {
  std::sort(changes.begin(), changes.end());  // at one time, ends come first
  std::pair<double, std::int64_t> peak;
  std::int64_t now = 0;
  for (const auto& [time_s, by] : changes) {
    now += by;
    if (now > peak.second) peak = {time_s, now};
  }
  return peak;
}

// `spans` by their begin, not empty. A gang that waits for its last pod does not work yet; where
// a pod has ended by then, the pods work one by one.
JobTimes times_of(const std::vector<TimeSpan>& spans) {
  JobTimes times;
  double first_end_s = std::numeric_limits<double>::infinity();
  Changes changes;
  for (const TimeSpan& span : spans) {
    first_end_s = std::min(first_end_s, span.to_s);
    add_span(changes, span, 1);
  }
  const auto [peak_s, pods] = peak_of(std::move(changes));
  times.pods = static_cast<int>(pods);
  times.start_s = first_end_s <= peak_s ? spans.front().from_s : peak_s;
  double until_s = times.start_s;
  for (const TimeSpan& span : spans) {
    const double from_s = std::max(span.from_s, until_s);
    if (from_s > until_s) times.interrupted = true;
    if (span.to_s <= from_s) continue;
    times.run_s += span.to_s - from_s;
    until_s = span.to_s;
  }
  times.end_s = until_s;
  return times;
}

std::string hours(double gpu_s) {
  return format("{:.0f} GPU-hours", gpu_s / kHour_s);
}

}  // namespace

// What is said of the Jobs.
struct ClusterHistory::Counts {
  std::map<std::string, int> others;  // pods by the kind of their owner
  double others_gpu_s = 0;
  double left_out_gpu_s = 0;  // of Jobs on nodes that are not in the platform
  int parts = 0;              // pods
  int never_ran = 0;          // Jobs, as the next ones
  int still_run = 0;
  int begun_before = 0;
  int interrupted = 0;
  int on_unknown_nodes = 0;
  int deleted = 0;  // pods
  int short_jobs = 0;

  std::vector<std::string> sentences(double step_s, const TimeSpan& time, double gpus) const {
    std::vector<std::string> said;
    const auto say = [&](int count, std::string_view what) {
      if (count > 0) said.push_back(format("{} {}", count, what));
    };
    if (!others.empty()) {
      std::string kinds;
      for (const auto& [kind, count] : others)
        kinds += format("{}{} of {}", kinds.empty() ? "" : ", ", count,
                        kind.empty() ? "no owner" : printable(kind, 40));
      const double share = others_gpu_s / std::max(1.0, gpus * (time.to_s - time.from_s));
      said.push_back(format(
          "Pods with GPUs that are not of Jobs are left out, and the GPUs that they held ({}, "
          "{:.0f} % of the platform) are free: {}.",
          hours(others_gpu_s), 100 * share, kinds));
    }
    say(parts, "pods with parts of GPUs (MIG, time-slicing) are left out.");
    say(never_ran, "Jobs waited and never ran: nobody knows for how long they would; left out.");
    say(on_unknown_nodes,
        format("Jobs ({}) ran on nodes that were there at none of the times when nodes were "
               "counted; left out.",
               hours(left_out_gpu_s)));
    say(short_jobs, "Jobs ran for less than a second; left out.");
    say(begun_before,
        "Jobs were created before the time that was read: they arrive at its beginning, with what "
        "they ran for from then on.");
    say(still_run, "Jobs still run: they are played as if they ended now.");
    say(interrupted,
        "Jobs ran in several parts (a failure, a suspension, pods one after the other): these are "
        "one run.");
    say(deleted, format("pods were deleted while they ran: they ended when they were last seen, "
                        "{} exactly where there is no gap in the data.",
                        format_duration(step_s)));
    return said;
  }
};

ClusterHistory::ClusterHistory(GpuCatalog catalog, double step_s)
    : catalog_(std::move(catalog)), step_s_(step_s) {
  for (const GpuResourceRule& rule : catalog_.resources)
    if (rule.sharing == GpuSharing::kWhole) whole_resources_.insert(metric_name(rule.pattern));
}

std::int64_t ClusterHistory::Pod::whole() const {
  std::int64_t sum = 0;
  for (const auto& [container, count] : gpus)
    sum += count;
  return sum;
}

void ClusterHistory::add(HistoryFact fact, const TimeSpan& window,
                         std::span<const wire::Series> answer) {
  if (!answer.empty()) answered_.insert(fact);
  if (fact == HistoryFact::kNodeGpus) {
    add_instant(window, answer);
    return;
  }
  for (const wire::Series& series : answer) {
    switch (fact) {
      case HistoryFact::kJobCreated:
      case HistoryFact::kJobFirstCreated:
        created_[{label_of(series, "namespace"), label_of(series, "job_name")}].insert(
            value_of(series));
        break;
      case HistoryFact::kNodeLabels:
        add_node_labels(series);
        break;
      case HistoryFact::kGpuModel: {
        const std::string_view node = series.label("Hostname");
        models_[std::string(node.empty() ? series.label("hostname") : node)] =
            series.label("modelName");
        break;
      }
      default:
        add_pod(fact, series);
    }
  }
}

void ClusterHistory::add_gpus(Pod& pod, const wire::Series& series) const {
  if (const std::string node = label_of(series, "node"); !node.empty()) pod.node = node;
  if (!whole_resources_.contains(std::string(series.label("resource")))) {
    pod.parts = true;
    return;
  }
  const auto gpus =
      static_cast<std::int64_t>(std::clamp(value_of(series), 0.0, kMostGpusOfContainer));
  std::int64_t& known = pod.gpus[label_of(series, "container")];
  known = std::max(known, gpus);
}

void ClusterHistory::add_pod(HistoryFact fact, const wire::Series& series) {
  const std::string ns = label_of(series, "namespace");
  const std::string name = label_of(series, "pod");
  std::string uid(series.label("uid"));
  if (uid.empty()) uid = format("{}/{}", ns, name);
  Pod& pod = pods_[uid];
  pod.ns = ns;
  pod.name = name;
  const double value = value_of(series);
  switch (fact) {
    case HistoryFact::kGpus:
      add_gpus(pod, series);
      break;
    case HistoryFact::kLastSeen:
      pod.last_seen_s = std::max(pod.last_seen_s, value);
      break;
    case HistoryFact::kOwner:
      if (series.label("owner_kind").empty()) break;
      pod.owner_kind = series.label("owner_kind");
      pod.owner = series.label("owner_name");
      break;
    case HistoryFact::kPodCreated:
      pod.created_s = value;
      break;
    case HistoryFact::kScheduled:
      pod.bound_s = value;
      break;
    case HistoryFact::kStarted:
      pod.started_s = value;
      break;
    case HistoryFact::kCompleted:
      pod.completed_s = std::max(pod.completed_s.value_or(0), value);
      break;
    case HistoryFact::kEnded:
      pod.ended = true;
      break;
    default:
      break;
  }
}

void ClusterHistory::add_node_labels(const wire::Series& series) {
  Labels labels;
  for (const std::string& key : type_keys(catalog_))
    if (const auto value = series.label("label_" + metric_name(key)); !value.empty())
      labels.emplace_back(key, value);
  if (labels.empty()) return;
  std::sort(labels.begin(), labels.end());
  node_labels_[label_of(series, "node")] = std::move(labels);
}

void ClusterHistory::add_instant(const TimeSpan& window, std::span<const wire::Series> answer) {
  if (answer.empty()) return;
  data_from_s_ = std::min(data_from_s_.value_or(window.from_s), window.from_s);
  std::map<double, NodeGpus> at;
  for (const wire::Series& series : answer) {
    clusters_.emplace(series.label("cluster"));
    const bool whole = whole_resources_.contains(std::string(series.label("resource")));
    const std::string node = label_of(series, "node");
    for (const wire::SeriesPoint& point : series.points) {
      NodeGpus& nodes = at[point.time_s];
      if (!whole) continue;
      int& gpus = nodes[node];
      gpus = std::max(gpus, static_cast<int>(std::clamp(point.value, 0.0, kMostGpusOfContainer)));
    }
  }
  for (auto& [time_s, nodes] : at) {
    if (node_counts_++ > 0 && time_s - nodes_seen_s_ > without_nodes_.to_s - without_nodes_.from_s)
      without_nodes_ = {nodes_seen_s_, time_s};
    nodes_seen_s_ = std::max(nodes_seen_s_, time_s);
    if (nodes_.empty() || nodes_.back() != nodes) nodes_.push_back(std::move(nodes));
  }
}

Status ClusterHistory::check(const TimeSpan& asked) const {
  const std::string time = format_duration(asked.to_s - asked.from_s);
  if (!data_from_s_)
    return fail(ErrorCode::kNotFound,
                format("no sample of {} in the last {}: let this Prometheus scrape "
                       "kube-state-metrics, or name another one or another --tenant",
                       history_source(HistoryFact::kNodeGpus), time));
  if (clusters_.size() > 1)
    return fail(ErrorCode::kInvalidArgument,
                format("the series are of several clusters ({}): name one with --cluster-label",
                       printable(join({clusters_.begin(), clusters_.end()}, ", "), 200)));
  if (pods_.empty())
    return fail(ErrorCode::kNotFound, format("no pod with GPUs in the last {} (no sample of {})",
                                             time, history_source(HistoryFact::kGpus)));
  return {};
}

TimeSpan ClusterHistory::read_time(const TimeSpan& asked) const {
  TimeSpan time{std::max(asked.from_s, data_from_s_.value_or(asked.from_s)), 0};
  time.to_s = std::max(time.to_s, nodes_seen_s_);
  for (const auto& [uid, pod] : pods_)
    time.to_s = std::max(time.to_s, pod.last_seen_s);
  time.to_s = std::min(time.to_s, asked.to_s);
  return time;
}

// By its labels; else by what dcgm-exporter calls its GPUs, as NVIDIA's label would.
GpuType ClusterHistory::type_of(const std::string& node) const {
  if (const auto labels = node_labels_.find(node); labels != node_labels_.end())
    if (GpuType type = catalog_.classify(labels->second); !type.empty()) return type;
  const auto model = models_.find(node);
  if (model == models_.end()) return GpuType();
  std::string product = model->second;
  std::replace(product.begin(), product.end(), ' ', '-');
  return catalog_.classify({{"nvidia.com/gpu.product", product}});
}

std::vector<core::Pool> ClusterHistory::pools(std::vector<std::string>& remarks) const {
  std::map<std::pair<std::string, int>, int> most;  // nodes, by type and GPUs
  std::set<std::string> untyped;
  int least_gpus = std::numeric_limits<int>::max();
  int most_gpus = 0;
  for (const NodeGpus& there : nodes_) {
    std::map<std::pair<std::string, int>, int> nodes;
    int all = 0;
    for (const auto& [node, gpus] : there) {
      const GpuType type = type_of(node);
      if (catalog_.is_part(type)) continue;
      if (type.empty()) untyped.insert(node);
      ++nodes[{type.str(), gpus}];
      all += gpus;
    }
    for (const auto& [kind, count] : nodes)
      most[kind] = std::max(most[kind], count);
    least_gpus = std::min(least_gpus, all);
    most_gpus = std::max(most_gpus, all);
  }
  std::vector<core::Pool> pools;
  std::string said;
  for (const auto& [kind, count] : most) {
    const auto& [type, gpus] = kind;
    pools.push_back({GpuType(type), "", count, gpus, 1.0});
    said += format("{}{}x{}:{}", said.empty() ? "" : ",", count, gpus, type.empty() ? "GPU" : type);
  }
  remarks.push_back(
      format("The platform is {}: of each kind the most nodes that were there at one of {} times; "
             "together the nodes had from {} to {} GPUs. It does not change.",
             said, node_counts_, least_gpus, most_gpus));
  if (!untyped.empty())
    remarks.push_back(format(
        "{} nodes tell no GPU type, and are taken as one type: let kube-state-metrics export "
        "nvidia.com/gpu.product (--metric-labels-allowlist=nodes=[...]).",
        untyped.size()));
  return pools;
}

// By pods of Jobs and of others, with whole GPUs.
std::int64_t ClusterHistory::most_gpus_held(const TimeSpan& time) const {
  Changes changes;
  for (const auto& [uid, pod] : pods_) {
    if (pod.parts || catalog_.is_part(type_of(pod.node))) continue;
    if (const auto ran = run_of(pod, time)) add_span(changes, *ran, pod.whole());
  }
  return peak_of(std::move(changes)).second;
}

// Where the platform, of so many GPUs, or the data are not all that was there.
void ClusterHistory::say_of_nodes(double gpus, History& history) const {
  const std::int64_t held = most_gpus_held(history.time);
  if (static_cast<double>(held) > gpus)
    history.remarks.push_back(
        format("Recorded runs held up to {} GPUs at once, more than the {:.0f} of the platform: "
               "nodes came and went between the times at which they were counted, so (recorded) "
               "had more GPUs than the policies, and the comparison is not fair. Replay, with "
               "--since, a time in which the nodes did not change.",
               held, gpus));
  const double without_s = without_nodes_.to_s - without_nodes_.from_s;
  if (without_s > kLongestGap * kNodeStep_s)
    history.remarks.push_back(
        format("There is no sample of a GPU node for {}, from {} to {}: the cluster had none, or "
               "the Prometheus did not scrape. What ran then may be missing, and a pod that was "
               "deleted then ended up to {} after it was last seen. This is the longest such gap.",
               format_duration(without_s), format_rfc3339(without_nodes_.from_s),
               format_rfc3339(without_nodes_.to_s), format_duration(without_s)));
}

// nullopt: it never ran in this time.
std::optional<TimeSpan> ClusterHistory::run_of(const Pod& pod, const TimeSpan& time) const {
  const auto begin_s = pod.begin_s();
  if (!begin_s) return std::nullopt;
  TimeSpan run{std::max(*begin_s, time.from_s), time.to_s};
  if (pod.ended)
    run.to_s = pod.completed_s.value_or(pod.last_seen_s);
  else if (pod.last_seen_s < time.to_s - 2 * step_s_)
    run.to_s = pod.last_seen_s;
  run.to_s = std::min(run.to_s, time.to_s);
  if (run.to_s <= run.from_s) return std::nullopt;
  return run;
}

// Of the Job that owns the pod: the last of its name that was there before the pod.
double ClusterHistory::created_of(const Pod& pod) const {
  const auto known = created_.find({pod.ns, pod.owner});
  if (known == created_.end()) return 0;
  const auto after =
      known->second.upper_bound(pod.created_s.value_or(pod.last_seen_s) + kSameCreation_s);
  return after == known->second.begin() ? *after : *std::prev(after);
}

std::map<ClusterHistory::JobRun, std::vector<const ClusterHistory::Pod*>> ClusterHistory::job_runs(
    const TimeSpan& time, Counts& counts) const {
  std::map<JobRun, std::vector<const Pod*>> runs;
  for (const auto& [uid, pod] : pods_) {
    const auto ran = run_of(pod, time);
    if (pod.parts || pod.whole() < 1 || catalog_.is_part(type_of(pod.node))) {
      ++counts.parts;
    } else if (pod.owner_kind != "Job") {
      ++counts.others[pod.owner_kind];
      if (ran) counts.others_gpu_s += static_cast<double>(pod.whole()) * (ran->to_s - ran->from_s);
    } else {
      runs[{{pod.ns, pod.owner}, created_of(pod)}].push_back(&pod);
    }
  }
  return runs;
}

std::optional<HistoryJob> ClusterHistory::job_of(const JobRun& run,
                                                 const std::vector<const Pod*>& pods,
                                                 const TimeSpan& time, Counts& counts) const {
  HistoryJob job;
  std::tie(job.ns, job.name) = run.first;
  double created_s = run.second > 0 ? run.second : std::numeric_limits<double>::infinity();
  std::vector<TimeSpan> spans;
  std::map<GpuType, int> types;
  bool waits = false;
  bool runs = false;
  for (const Pod* pod : pods) {
    created_s = std::min(created_s, pod->created_s.value_or(created_s));
    const auto ran = run_of(*pod, time);
    if (!ran) {
      waits |= !pod->begin_s();
      continue;
    }
    spans.push_back(*ran);
    runs |= !pod->ended && ran->to_s >= time.to_s;
    counts.deleted += !pod->ended && ran->to_s < time.to_s ? 1 : 0;
    ++types[type_of(pod->node)];
    job.gpus_per_pod = std::max(job.gpus_per_pod, static_cast<int>(pod->whole()));
  }
  if (spans.empty()) {
    counts.never_ran += waits ? 1 : 0;  // else it ended before the time that was read
    return std::nullopt;
  }
  std::sort(spans.begin(), spans.end(),
            [](const TimeSpan& a, const TimeSpan& b) { return a.from_s < b.from_s; });
  const JobTimes times = times_of(spans);
  if (times.run_s < 1) {
    ++counts.short_jobs;
    return std::nullopt;
  }
  counts.still_run += runs ? 1 : 0;
  counts.interrupted += times.interrupted ? 1 : 0;
  counts.begun_before += created_s < time.from_s ? 1 : 0;
  job.submit_s = std::clamp(created_s, time.from_s, times.start_s);
  job.start_s = times.start_s;
  job.end_s = times.end_s;
  job.run_s = times.run_s;
  job.pods = times.pods;
  job.type = std::max_element(types.begin(), types.end(), [](const auto& a, const auto& b) {
               return a.second < b.second;
             })->first;
  return job;
}

Result<History> ClusterHistory::history(const TimeSpan& asked) const {
  SLACKLINE_TRY(check(asked));
  History history;
  history.time = read_time(asked);
  for (const HistoryFact fact : {HistoryFact::kOwner, HistoryFact::kPodCreated,
                                 HistoryFact::kScheduled, HistoryFact::kJobCreated})
    if (!answered_.contains(fact))
      history.remarks.push_back(format("There is no sample of {}.", history_source(fact)));
  history.pools = pools(history.remarks);
  Counts counts;
  for (const auto& [run, pods] : job_runs(history.time, counts)) {
    auto job = job_of(run, pods, history.time, counts);
    if (!job) continue;
    const bool has_pool =
        std::any_of(history.pools.begin(), history.pools.end(),
                    [&](const core::Pool& pool) { return pool.type == job->type; });
    if (!has_pool) {
      ++counts.on_unknown_nodes;
      counts.left_out_gpu_s += static_cast<double>(job->gpus()) * job->run_s;
      continue;
    }
    history.jobs.push_back(std::move(*job));
  }
  double gpus = 0;
  for (const core::Pool& pool : history.pools)
    gpus += double{1} * pool.nodes * pool.gpus_per_node;
  say_of_nodes(gpus, history);
  const auto said = counts.sentences(step_s_, history.time, gpus);
  history.remarks.insert(history.remarks.end(), said.begin(), said.end());
  if (history.jobs.empty())
    return fail(ErrorCode::kNotFound,
                format("no Job with whole GPUs ran in the {} of which there are data. {}",
                       format_duration(history.time.to_s - history.time.from_s),
                       join(history.remarks, " ")));
  if (history.jobs.size() > kMostHistoryJobs)
    return fail(ErrorCode::kResourceExhausted,
                format("{} Jobs, at most {} are played: give a shorter --since",
                       history.jobs.size(), kMostHistoryJobs));
  std::stable_sort(
      history.jobs.begin(), history.jobs.end(),
      [](const HistoryJob& a, const HistoryJob& b) { return a.submit_s < b.submit_s; });
  return history;
}

}  // namespace slackline::sim
