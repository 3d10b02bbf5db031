#include "control/plan/resize_news.h"

#include <limits>
#include <utility>

#include "control/plan/task_events.h"
#include "slackline/core/cluster/resizing.h"

namespace slackline::control {
namespace {

constexpr std::size_t kMostLookedAt = 256;  // a turn
// An older failure was told by whoever planned then.
constexpr double kRecent_s = 600;
constexpr std::uint64_t kTold = std::numeric_limits<std::uint64_t>::max();

}  // namespace

void ResizeNews::look(const ClusterSnapshot& snapshot, const core::QueueOptions& options,
                      const core::Queue& queue, const Post& post) {
  if (options.portraits == nullptr || options.portraits->portraits.empty()) return;
  tell_of_failures(snapshot, *options.portraits, options.now_wall_s, post);
  suggest(snapshot, options, queue, post);
}

void ResizeNews::suggest(const ClusterSnapshot& snapshot, const core::QueueOptions& options,
                         const core::Queue& queue, const Post& post) {
  const std::uint64_t version = options.portraits->version;
  std::unordered_map<Uid, std::uint64_t> looked;
  std::optional<core::Resizer> resizer;
  std::size_t left = kMostLookedAt;
  for (core::TaskIndex index = 0; index < queue.size(); ++index) {
    const core::QueueTask& task = queue.task(index);
    if (!task.job || task.plan) continue;
    const auto before = looked_.find(task.uid);
    if (before != looked_.end() && before->second >= version) {
      looked.insert(*before);
      continue;
    }
    if (left == 0) continue;
    --left;
    if (!resizer) resizer.emplace(snapshot, options);
    const core::ResizingPtr resizing = resizer->of(*task.job, *task.intent);
    const bool suggests = resizing && !resizing->changes() && !core::suggestions(*resizing).empty();
    if (!suggests)
      looked[task.uid] = version;
    else if (post(resize_suggestion_of(*task.job, *resizing)))
      looked[task.uid] = kTold;
  }
  looked_ = std::move(looked);
}

void ResizeNews::tell_of_failures(const ClusterSnapshot& snapshot, const core::PortraitBook& book,
                                  double now_wall_s, const Post& post) {
  if (read_ == book.version) return;
  bool all = true;
  for (const auto& [family, portrait] : book.portraits) {
    const double failed_s = portrait->resizing.rolled_back.at_s;
    if (failed_s <= 0) continue;
    // Its stop was told.
    const Job* job =
        snapshot.find_job(portrait->identity.department, portrait->resizing.rolled_back.task);
    const bool stopped =
        job != nullptr && job->preemptions && job->preemptions->too_small != ResizeFailure::kNone;
    double& told_s = failed_[family];
    if (told_s >= failed_s) continue;
    if (failed_s > now_wall_s - kRecent_s && !stopped && !post(rollback_of(*portrait)))
      all = false;
    else
      told_s = failed_s;
  }
  if (all) read_ = book.version;
}

}  // namespace slackline::control
