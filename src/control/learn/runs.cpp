#include "control/learn/runs.h"

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "control/state/settings.h"
#include "obs/log.h"
#include "slackline/base/text.h"
#include "slackline/core/cluster/task_catalog.h"
#include "slackline/core/planning/gpu_types.h"
#include "slackline/core/throughput/predictor.h"

namespace slackline::control {
namespace {

tl::unexpected<Error> none(std::string why) {
  return fail(ErrorCode::kInvalidArgument, std::move(why));
}

Status check_kind(const Job& job, const RunSeen& seen) {
  if (!job.completed_s) return none("it failed");
  if (job.failed > 0) return none("some of its pods failed");
  // Also where the stop was before this daemon saw it.
  if (job.preemptions) return none("it was stopped for another task, and did not run at once");
  if (!seen.spoilt.empty()) return none(seen.spoilt);
  for (const auto& [uid, member] : seen.pods)
    if (!member.whole) return none("it uses parts of GPUs");
  if (job.intent->mode == WorkloadMode::kInference) return none("it does not train");
  if (!job.intent->batch_size || !job.intent->iterations)
    return none("it does not give batch-size and iterations");
  if (core::starts_one_by_one(job)) return none("its pods are independent of each other");
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
    gpus[member.node] +=
        static_cast<int>(std::clamp<std::int64_t>(member.gpus, 0, kMaxGpusPerNode));
  Place place;
  std::vector<int> counts;
  for (const auto& [name, count] : gpus) {
    const auto node = snapshot.find_node(name.str());
    if (!node) return none(format("its node {} no longer exists", name.str()));
    const GpuType& type = snapshot.node(*node).node->gpu_type;
    if (type.empty()) return none(format("the GPU type of node {} is not known", name.str()));
    if (!counts.empty() && type != place.gpu_type) return none("it ran on several GPU types");
    place.gpu_type = type;
    counts.push_back(count);
  }
  SLACKLINE_ASSIGN(place.layout, Layout::of(std::move(counts)));
  return place;
}

double last_start_s(const RunSeen& run) {
  double last_s = 0;
  for (const auto& [uid, member] : run.pods)
    last_s = std::max(last_s, member.started_s);
  return last_s;
}

// Seconds from when all of its containers with GPUs had started to the end.
double duration_s(const Job& job, const RunSeen& seen) {
  double begun_s = std::max(job.started_s.value_or(0), last_start_s(seen));
  for (const auto& [uid, member] : seen.pods)
    begun_s = std::max(begun_s, member.began_s);
  return *job.completed_s - begun_s;
}

// What is to be told, once, when the last of its pods has started.
std::optional<RunSeen::Waiting> take_wait(RunSeen& run) {
  if (!run.waiting || run.pods.size() < run.waiting->pods) return std::nullopt;
  return std::exchange(run.waiting, std::nullopt);
}

}  // namespace

std::string_view class_name_of(const Job& job) {
  if (job.is_calibration()) return kCalibrationClass;
  return to_string(job.intent ? job.intent->qos_class.value_or(QosClass::kNormal)
                              : QosClass::kNormal);
}

Result<ThroughputSample> sample_of(const Job& job, const RunSeen& seen,
                                   const ClusterSnapshot& snapshot,
                                   const WorkloadProfiles& profiles) {
  SLACKLINE_TRY(check_kind(job, seen));
  SLACKLINE_ASSIGN(const Place place, place_of(seen, snapshot));
  const std::string model = *job.intent->workload();
  const auto batch = static_cast<double>(*job.intent->batch_size);
  const std::int64_t replica = job.intent->model_parallel.value_or(1);
  if (batch * static_cast<double>(replica) < place.layout.spread().gpus)
    return none(replica > 1 ? "its batch is less than its replicas"
                            : "its batch is less than its GPUs, and it states no model-parallel");
  const ProfileEntry* entry = core::entry_of(profiles, model, place.gpu_type);
  const double startup_s = entry == nullptr ? 0 : entry->startup_s;
  const double training_s = duration_s(job, seen) - startup_s;
  if (training_s < kLeastTraining_s)
    return none(format("it trained for {:.0f} s; a run of less than {:.0f} s says too little",
                       training_s, kLeastTraining_s));
  const double samples = batch * static_cast<double>(*job.intent->iterations);
  if (samples <= 0) return none("it says 0 iterations");
  return ThroughputSample{model,
                          place.gpu_type,
                          batch,
                          place.layout,
                          samples / training_s,
                          "Job " + job.key.str(),
                          job.is_calibration() ? SampleOrigin::kCalibration : SampleOrigin::kRun,
                          static_cast<int>(job.intent->model_parallel.value_or(0)),
                          job.uid,
                          job.key.ns};
}

Runs::Runs(const GpuCatalog& catalog, const Published<Known>& known, Record record,
           const Clock& clock)
    : catalog_(catalog), known_(known), record_(std::move(record)), clock_(clock) {}

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

RunSeen* Runs::note_pod(const Pod& pod) {
  if (!pod.owner || pod.owner->kind != "Job" || !pod.started_s) return nullptr;
  const std::string resource = core::primary_gpu_resource(pod.requests);
  if (resource.empty() || ended_.contains(pod.owner->uid)) return nullptr;
  RunSeen& run = run_of(pod.owner->uid);
  if (pod.restarted) run.spoilt = "a container of it was restarted";
  run.retried = run.retried || pod.restarted;
  RunSeen::Member& member = run.pods[pod.uid];
  member.node = pod.node;
  member.gpus = pod.requests.gpu_count(resource);
  member.whole = catalog_.is_whole(resource);
  member.shared = catalog_.is_shared(resource);
  member.started_s = *pod.started_s;
  member.name = pod.key.name;
  member.out_of_memory = member.out_of_memory || pod.out_of_memory;
  member.gpu_out_of_memory = member.gpu_out_of_memory || pod.gpu_out_of_memory;
  if (!pod.image_digest.empty()) member.image_digest = pod.image_digest;
  if (pod.amounts) member.amounts = pod.amounts;
  member.began_s = pod.began_s.value_or(member.began_s);
  return &run;
}

void Runs::tell_began(const RunSeen::Waiting& waited, double began_s) const {
  for (Listener* listener : listeners_)
    listener->on_began(waited.queue, waited.qos_class, std::max(0.0, began_s - waited.since_s));
}

void Runs::on_pod_running(const Pod& pod) {
  see_pod(pod, false);
}

void Runs::on_pod_ended(const Pod& pod) {
  see_pod(pod, true);
}

bool Runs::is_left_over(const Pod& pod, const ClusterSnapshot& snapshot) const {
  if (!snapshot.synced || !pod.owner) return false;
  const Uid& job = pod.owner->uid;
  return !runs_.contains(job) && !early_.contains(job) && owning_job(snapshot, pod) == nullptr;
}

std::size_t Runs::followed() {
  MutexLock lock(mutex_);
  return runs_.size();
}

void Runs::see_pod(const Pod& pod, bool ended) {
  std::optional<RunSeen::Waiting> waited;
  double began_s = 0;
  {
    const SnapshotPtr snapshot = ended ? source_->snapshot() : nullptr;
    MutexLock lock(mutex_);
    if (ended && is_left_over(pod, *snapshot)) return;
    RunSeen* run = note_pod(pod);
    if (run == nullptr) return;
    RunSeen::Member& member = run->pods[pod.uid];
    if (ended && !member.ended_s) member.ended_s = pod.ended_s.value_or(clock_.wall_s());
    waited = take_wait(*run);
    began_s = last_start_s(*run);
  }
  if (waited) tell_began(*waited, began_s);
  settle();
}

void Runs::on_job(const Job& job) {
  if (!job.pod_requests.wants_gpus()) return;
  if (job.preemptions && job.preemptions->too_small != ResizeFailure::kNone)
    for (Listener* listener : listeners_)
      listener->on_rolled_back(job);
  if (job.finished) {
    end(job);
  } else {
    MutexLock lock(mutex_);
    follow_job(job);
  }
  settle();
}

void Runs::follow_job(const Job& job) {
  RunSeen& run = run_of(job.uid);
  // A Job that waits after a stop has begun before, whoever saw it.
  const bool began = job.started_s || !run.pods.empty() || job.preemptions;
  if (!run.seen_before_start) run.seen_before_start = !began;
  if (began) run.job = std::make_shared<const Job>(job);
  if (job.resumed && !*run.seen_before_start)
    run.spoilt = "it was resumed before it was first seen";
  if (job.suspended && !run.pods.empty()) run.spoilt = "it was suspended while it ran";
  run.retried = run.retried || (job.suspended && !run.pods.empty());
  if (run.parallelism && *run.parallelism != job.parallelism) run.spoilt = "it was resized";
  if (job.started_s) run.parallelism = job.parallelism;
  if (!run.pods.empty() || !*run.seen_before_start) return;
  static const TaskIntent kNothing;
  const TaskIntent& intent = job.intent ? *job.intent : kNothing;
  run.waiting =
      RunSeen::Waiting{job.created_s, queue_of(intent, job.key.ns), std::string(class_name_of(job)),
                       static_cast<std::size_t>(std::max<std::int64_t>(1, job.wanted_pods()))};
}

void Runs::end(const Job& job) {
  const bool known = source_->snapshot()->synced;
  RunSeen seen;
  {
    MutexLock lock(mutex_);
    if (ended_.contains(job.uid)) return;
    if (!known) {  // its pods may be listed after it
      early_.insert_or_assign(job.uid, job);
      return;
    }
    early_.erase(job.uid);
    ended_.insert(job.uid);
    if (const auto run = runs_.find(job.uid); run != runs_.end()) {
      if (run->second.seen_before_start) follow_job(job);
      seen = std::move(run->second);
      runs_.erase(run);
    }
  }
  if (conclude(job, seen)) return;
  MutexLock lock(mutex_);
  ended_.erase(job.uid);
  if (seen.seen_before_start || !seen.pods.empty()) {
    seen.learnt = true;
    runs_.try_emplace(job.uid, std::move(seen));
  }
}

void Runs::settle() {
  std::vector<Job> early;
  {
    MutexLock lock(mutex_);
    if (early_.empty()) return;
  }
  if (!source_->snapshot()->synced) return;
  {
    MutexLock lock(mutex_);
    for (auto& [uid, job] : early_)
      early.push_back(std::move(job));
    early_.clear();
  }
  std::sort(early.begin(), early.end(), [](const Job& a, const Job& b) {
    return std::tie(a.ended_s, a.key) < std::tie(b.ended_s, b.key);
  });
  for (const Job& job : early)
    end(job);
}

void Runs::on_job_gone(const Uid& job) {
  RunSeen seen;
  {
    MutexLock lock(mutex_);
    const auto run = runs_.find(job);
    if (run != runs_.end() && !ended_.contains(job)) seen = std::move(run->second);
    runs_.erase(job);
    ended_.erase(job);
  }
  if (seen.job != nullptr && !seen.pods.empty())
    static_cast<void>(conclude(*seen.job, seen));  // nobody can tell of it again
}

bool Runs::conclude(const Job& job, const RunSeen& seen) {
  // Its end alone tells nothing of how it ran.
  if (job.finished && job.intent && job.intent->workload() && seen.seen_before_start &&
      !seen.learnt)
    learn(job, seen);
  bool taken = true;
  for (Listener* listener : listeners_)
    taken = listener->on_ended(job, seen) && taken;
  return taken;
}

void Runs::learn(const Job& job, const RunSeen& seen) const {
  if (settings_ != nullptr && !settings_->get()->learn_from_runs && !job.is_calibration()) return;
  auto sample = sample_of(job, seen, *source_->snapshot(), known_.get()->profiles());
  if (!sample) {
    obs::log_info("run_not_learnt", {{"job", job.key.str()}, {"why", sample.error().message}});
    return;
  }
  obs::log_info("run_learnt", {{"job", job.key.str()},
                               {"model", sample->model},
                               {"gpu_type", sample->gpu_type.str()},
                               {"layout", sample->layout.str()},
                               {"samples_per_s", sample->throughput_samples_per_s}});
  record_(std::move(*sample));
}

}  // namespace slackline::control
