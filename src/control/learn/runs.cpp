#include "control/learn/runs.h"

#include <algorithm>
#include <utility>

#include "obs/log.h"
#include "slackline/base/text.h"
#include "slackline/core/gpu_types.h"

namespace slackline::control {
namespace {

tl::unexpected<Error> none(std::string why) {
  return fail(ErrorCode::kInvalidArgument, std::move(why));
}

// The GPUs that a pod wants, where they are whole ones; else 0.
int whole_gpus(const Pod& pod, const GpuCatalog& catalog) {
  const std::string resource = core::primary_gpu_resource(pod.requests);
  if (resource.empty() || !catalog.is_whole(resource)) return 0;
  return static_cast<int>(
      std::clamp<std::int64_t>(pod.requests.gpu_count(resource), 0, kMaxGpusPerNode));
}

Status check_kind(const Job& job, const RunSeen& seen) {
  if (!job.completed_s) return none("it failed");
  if (job.failed > 0) return none("pods of it failed");
  if (!seen.spoilt.empty()) return none(seen.spoilt);
  if (job.intent->mode == WorkloadMode::kInference) return none("it does not train");
  if (!job.intent->batch_size || !job.intent->iterations)
    return none("it does not say batch-size and iterations");
  const bool alone = job.parallelism == 1 && job.completions.value_or(1) == 1;
  if (!alone && !job.is_gang()) return none("each of its pods stands alone");
  if (static_cast<std::int64_t>(seen.pods.size()) != job.parallelism)
    return none(
        format("{} pods were seen running, it wants {}", seen.pods.size(), job.parallelism));
  return {};
}

struct Place {
  GpuType gpu_type;
  Layout layout;
};

Result<Place> place_of(const RunSeen& seen, const ClusterSnapshot& snapshot) {
  std::map<NodeName, int> gpus;
  for (const auto& [uid, member] : seen.pods)
    gpus[member.node] += member.gpus;
  Place place;
  std::vector<int> counts;
  for (const auto& [name, count] : gpus) {
    const auto node = snapshot.find_node(name.str());
    if (!node) return none(format("its node {} is gone", name.str()));
    const GpuType& type = snapshot.node(*node).node->gpu_type;
    if (type.empty()) return none(format("the GPU type of node {} is not known", name.str()));
    if (!counts.empty() && type != place.gpu_type) return none("it ran on several GPU types");
    place.gpu_type = type;
    counts.push_back(count);
  }
  SLACKLINE_ASSIGN(place.layout, Layout::of(std::move(counts)));
  return place;
}

// Seconds from the start of the last pod to the end.
double duration_s(const Job& job, const RunSeen& seen) {
  double started_s = job.started_s.value_or(0);
  for (const auto& [uid, member] : seen.pods)
    started_s = std::max(started_s, member.started_s);
  return *job.completed_s - started_s;
}

}  // namespace

Result<ThroughputSample> sample_of(const Job& job, const RunSeen& seen,
                                   const ClusterSnapshot& snapshot,
                                   const WorkloadProfiles& profiles) {
  SLACKLINE_TRY(check_kind(job, seen));
  SLACKLINE_ASSIGN(const Place place, place_of(seen, snapshot));
  const std::string& model = *job.intent->model;
  const auto batch = static_cast<double>(*job.intent->batch_size);
  if (batch < place.layout.spread().gpus) return none("its batch is less than its GPUs");
  const ProfileEntry* entry = profiles.find(model, place.gpu_type);
  const double startup_s = entry == nullptr ? 0 : entry->startup_s;
  const double training_s = duration_s(job, seen) - startup_s;
  if (training_s < kLeastTraining_s)
    return none(format("it trained for {:.0f} s; from {:.0f} s on a run tells something",
                       training_s, kLeastTraining_s));
  const double samples = batch * static_cast<double>(*job.intent->iterations);
  if (samples <= 0) return none("it says 0 iterations");
  return ThroughputSample{model,
                          place.gpu_type,
                          batch,
                          place.layout,
                          samples / training_s,
                          "Job " + job.key.str(),
                          SampleOrigin::kRun};
}

Runs::Runs(const GpuCatalog& catalog, const KnownBoard& board, Record record)
    : catalog_(catalog), board_(board), record_(std::move(record)) {}

RunSeen& Runs::run_of(const Uid& job) {
  const auto [at, first] = runs_.try_emplace(job);
  if (!first) return at->second;
  at->second.order = next_order_++;
  if (runs_.size() <= kMaxRuns) return at->second;
  // The pods of Jobs that nobody told us the end of.
  runs_.erase(std::min_element(runs_.begin(), runs_.end(), [](const auto& a, const auto& b) {
    return a.second.order < b.second.order;
  }));
  return runs_.at(job);
}

void Runs::on_pod_running(const Pod& pod) {
  if (!pod.owner || pod.owner->kind != "Job") return;
  const int gpus = whole_gpus(pod, catalog_);
  if (gpus == 0) return;
  MutexLock lock(mutex_);
  RunSeen& run = run_of(pod.owner->uid);
  run.pods[pod.uid] = {pod.node, gpus, pod.started_s.value_or(0)};
  if (pod.restarted) run.spoilt = "a container of it was restarted";
}

void Runs::on_job(const Job& job) {
  if (!job.intent || !job.intent->model) return;
  RunSeen seen;
  {
    MutexLock lock(mutex_);
    if (job.finished && !runs_.contains(job.uid)) return;
    RunSeen& run = run_of(job.uid);
    if (!run.seen_before_start) run.seen_before_start = !job.started_s && run.pods.empty();
    if (job.resumed && !*run.seen_before_start)
      run.spoilt = "it was resumed before it was first seen";
    if (job.suspended && !run.pods.empty()) run.spoilt = "it was suspended while it ran";
    if (run.parallelism && *run.parallelism != job.parallelism) run.spoilt = "it was resized";
    if (job.started_s) run.parallelism = job.parallelism;
    if (!job.finished) return;
    seen = std::move(run);
    runs_.erase(job.uid);
  }
  conclude(job, seen);
}

void Runs::on_job_gone(const Uid& job) {
  MutexLock lock(mutex_);
  runs_.erase(job);
}

void Runs::conclude(const Job& job, const RunSeen& seen) const {
  auto sample = sample_of(job, seen, *source_->snapshot(), board_.known()->profiles());
  if (!sample) {
    obs::log_info("run_not_learnt", {{"job", job.key.str()}, {"why", sample.error().message}});
    return;
  }
  obs::log_info("run_learnt", {{"job", job.key.str()},
                               {"model", sample->model},
                               {"gpu_type", sample->gpu_type.str()},
                               {"layout", sample->layout.str()},
                               {"samples_per_s", sample->throughput_samples_per_s}});
  record_({std::move(*sample), job.uid});
}

}  // namespace slackline::control
