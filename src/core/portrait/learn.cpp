#include "slackline/core/portrait/learn.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "slackline/core/portrait/histogram.h"
#include "slackline/core/portrait/run_time.h"

namespace slackline::core {
namespace {

void observe_one(Portrait& portrait, UsageKind kind, double value, double seconds, double at_s) {
  add_sample(portrait.histograms[static_cast<std::size_t>(kind)], scale_of(kind), value, seconds,
             at_s);
}

// The order of runs in a portrait: by their end, then by name.
auto order_of(const PortraitRun& run) {
  return std::tie(run.finished_s, run.usage.run);
}
auto order_of(const PastRun& run) {
  return std::tie(run.finished_s, run.run);
}
auto order_of(const MemoryShortage& run) {
  return std::tie(run.at_s, run.run);
}
const Uid& run_of(const PortraitRun& run) {
  return run.usage.run;
}
template <class Run>
const Uid& run_of(const Run& run) {
  return run.run;
}

// In its place; one of the same run is replaced.
template <class Run>
void put(std::vector<Run>& runs, Run run) {
  std::erase_if(runs, [&run](const Run& other) { return run_of(other) == run_of(run); });
  const auto at = std::upper_bound(runs.begin(), runs.end(), run, [](const Run& a, const Run& b) {
    return order_of(a) < order_of(b);
  });
  runs.insert(at, std::move(run));
}

template <class Run>
void keep_last(std::vector<Run>& runs, std::size_t most) {
  if (runs.size() > most) runs.erase(runs.begin(), runs.end() - static_cast<std::ptrdiff_t>(most));
}

// The last runs of a type, and of the types that ran last.
void keep_evidence(std::vector<PortraitRun>& recent) {
  std::vector<std::pair<GpuType, std::size_t>> kept;
  std::vector<PortraitRun> left;
  for (auto run = recent.rbegin(); run != recent.rend(); ++run) {
    auto type = std::find_if(kept.begin(), kept.end(),
                             [&run](const auto& entry) { return entry.first == run->gpu_type; });
    if (type == kept.end()) {
      if (kept.size() == kEvidenceTypes) continue;
      type = kept.insert(kept.end(), {run->gpu_type, 0});
    }
    if (type->second == kEvidenceRuns) continue;
    ++type->second;
    left.push_back(std::move(*run));
  }
  std::reverse(left.begin(), left.end());
  recent = std::move(left);
}

void count(Portrait& portrait, const PortraitRun& run) {
  portrait.first_s =
      portrait.runs() == 0 ? run.finished_s : std::min(portrait.first_s, run.finished_s);
  ++portrait.outcomes[static_cast<std::size_t>(run.outcome)];
  portrait.preemptions += run.preemptions;
  if (run.wait_s) portrait.waits_s.add(*run.wait_s);
  if (run.speed) portrait.speeds.add(*run.speed);
  if (run.outcome == RunOutcome::kSucceeded && !run.retried) portrait.runs_s.add(run.run_s);
}

void judge_resizing(Portrait& portrait, const PortraitRun& run) {
  if (!run.resized) return;
  const ResizeFailure failure = failure_of(run);
  if (failure != ResizeFailure::kNone)
    add_rollback(portrait, {run.finished_s, run.usage.run, run.usage.task.name, failure});
  else if (run.outcome == RunOutcome::kSucceeded)
    portrait.resizing.kept_s = std::max(portrait.resizing.kept_s, run.finished_s);
}

// Of such a run nobody knows any more whether it was counted.
bool is_older_than_all(const Portrait& portrait, const PortraitRun& run) {
  return portrait.past.size() == kPastRuns && order_of(run) < order_of(portrait.past.front());
}

}  // namespace

bool is_evidence(const PortraitRun& run, double least_s) {
  return run.outcome == RunOutcome::kSucceeded && run.run_s > least_s;
}

ResizeFailure failure_of(const PortraitRun& run) {
  if (!run.resized) return ResizeFailure::kNone;
  if (run.outcome == RunOutcome::kOutOfMemory) return ResizeFailure::kOutOfMemory;
  if (run.outcome == RunOutcome::kGpuOutOfMemory) return ResizeFailure::kGpuOutOfMemory;
  const bool timed = run.outcome == RunOutcome::kSucceeded && run.preemptions == 0 && !run.retried;
  const bool slow =
      timed && run.resized->expected_s > 0 && run.run_s > kTooSlow * run.resized->expected_s;
  return slow ? ResizeFailure::kSlow : ResizeFailure::kNone;
}

double coverage(const PortraitRun& run, const std::optional<Usage>& usage) {
  if (!usage || !(run.run_s > 0) || !(usage->seconds > 0)) return 0;
  return std::min(1.0, usage->seconds / run.run_s);
}

void observe(Portrait& portrait, const UsageSample& window) {
  if (const auto& cpu = window.cpu_cores)
    observe_one(portrait, UsageKind::kCpu, cpu->mean, cpu->seconds, window.to_s);
  if (const auto& memory = window.memory_bytes)
    observe_one(portrait, UsageKind::kMemory, memory->max, memory->seconds, window.to_s);
  if (window.gpus != UsageQuality::kMeasured) return;
  if (const auto& gpu = window.gpu_share)
    observe_one(portrait, UsageKind::kGpu, gpu->mean, gpu->seconds, window.to_s);
  if (const auto& memory = window.gpu_memory_share)
    observe_one(portrait, UsageKind::kGpuMemory, memory->max, memory->seconds, window.to_s);
}

void add_run(Portrait& portrait, const PortraitRun& run, double least_s) {
  const auto before =
      std::find_if(portrait.past.begin(), portrait.past.end(),
                   [&run](const PastRun& other) { return other.run == run.usage.run; });
  if (before != portrait.past.end()) {
    --portrait.outcomes[static_cast<std::size_t>(before->outcome)];
    ++portrait.outcomes[static_cast<std::size_t>(run.outcome)];
  } else if (!is_older_than_all(portrait, run)) {
    count(portrait, run);
    if (portrait.runs() == 1 || run.finished_s >= portrait.last_s) {
      const bool other_image = !run.image_digest.empty() && !portrait.image_digest.empty() &&
                               run.image_digest != portrait.image_digest;
      if (other_image) ++portrait.version;
      if (!run.image_digest.empty()) portrait.image_digest = run.image_digest;
      portrait.requests = run.requests;
      portrait.asked = run.asked;
      portrait.others_changed = run.others_changed;
      portrait.last_s = run.finished_s;
    }
  }
  const PastRun past{run.usage.run,  run.gpu_type, run.shape.gpus(), run.retried ? 0 : run.run_s,
                     run.finished_s, run.outcome};
  if (before == portrait.past.end() && !is_older_than_all(portrait, run))
    if (const auto error = error_of_past(portrait.past, past))
      add_sample(portrait.time_errors, scale_of_errors(), *error, 1, run.finished_s);
  put(portrait.past, past);
  keep_last(portrait.past, kPastRuns);
  if (run.outcome == RunOutcome::kOutOfMemory) {
    const double used = run.usage.memory_bytes ? run.usage.memory_bytes->max : 0;
    const PodRequests& had = run.resized ? run.resized->given : run.requests;
    const double bytes = std::max(used, static_cast<double>(had.memory_bytes));
    put(portrait.shortages, MemoryShortage{run.usage.run, bytes, run.finished_s});
    keep_last(portrait.shortages, kShortages);
  }
  judge_resizing(portrait, run);
  if (!is_evidence(run, least_s)) return;
  put(portrait.recent, run);
  keep_evidence(portrait.recent);
}

void add_rollback(Portrait& portrait, const ResizeRollback& rollback) {
  ResizeRollback& latest = portrait.resizing.rolled_back;
  if (std::tie(latest.at_s, latest.run) < std::tie(rollback.at_s, rollback.run)) latest = rollback;
}

bool remembers(const Portrait& portrait, const Uid& run) {
  const auto is_it = [&run](const auto& other) { return run_of(other) == run; };
  return std::any_of(portrait.past.begin(), portrait.past.end(), is_it) ||
         std::any_of(portrait.recent.begin(), portrait.recent.end(), is_it);
}

double last_seen_s(const Portrait& portrait) {
  double last_s = portrait.last_s;
  for (const UsageHistogram& histogram : portrait.histograms)
    if (!histogram.buckets.empty()) last_s = std::max(last_s, histogram.reference_s + kHalfLife_s);
  return last_s;
}

std::vector<const PortraitRun*> evidence_on(const Portrait& portrait, const GpuType& gpu_type) {
  std::vector<const PortraitRun*> all;
  std::vector<const PortraitRun*> of_image;
  for (const PortraitRun& run : portrait.recent) {
    if (run.gpu_type != gpu_type) continue;
    all.push_back(&run);
    if (run.image_digest == portrait.image_digest) of_image.push_back(&run);
  }
  return of_image.empty() ? all : of_image;
}

std::optional<double> score_of(const Portrait& portrait) {
  if (portrait.recent.empty()) return std::nullopt;
  Tally shares;
  for (const PortraitRun* run : evidence_on(portrait, portrait.recent.back().gpu_type))
    if (run->usage.gpus == UsageQuality::kMeasured &&
        coverage(*run, run->usage.gpu_share) >= kLeastCoverage)
      shares.add(std::clamp(run->usage.gpu_share->mean, 0.0, 1.0));
  if (shares.runs == 0) return std::nullopt;
  return shares.mean();
}

int level_of(std::optional<double> score) {
  constexpr int kSteps = 9;
  if (!score || !std::isfinite(*score)) return kUnknownLevel;
  return 1 + static_cast<int>(std::floor(kSteps * std::clamp(*score, 0.0, 1.0)));
}

int level_of(const Portrait* portrait) {
  return level_of(portrait == nullptr ? std::nullopt : score_of(*portrait));
}

}  // namespace slackline::core
