// ResizeNews: tells people what right-sizing (core/cluster/resizing.h) would change, and what it
// took back. It begins with an empty memory.
//
//   ResizeSuggested    Normal    on a Job that waits, once: advice that is not applied
//   ResizeRolledBack   Warning   on a resized Job that has ended, and was too small or too slow
//
// Not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>

#include "cluster/watch/source.h"
#include "slackline/core/cluster/queue.h"

namespace slackline::control {

class ResizeNews {
 public:
  // False where the Event cannot be taken now: it is offered again.
  using Post = std::function<bool(TaskEvent)>;

  // After a plan. Looks at some hundred Jobs at most, and at none twice by the same portraits.
  void look(const ClusterSnapshot& snapshot, const core::QueueOptions& options,
            const core::Queue& queue, const Post& post);
  // Another replica may have told meanwhile.
  void forget() { *this = {}; }

 private:
  void suggest(const ClusterSnapshot& snapshot, const core::QueueOptions& options,
               const core::Queue& queue, const Post& post);
  void tell_of_failures(const ClusterSnapshot& snapshot, const core::PortraitBook& book,
                        double now_wall_s, const Post& post);

  // By Job: the version of the book by which it was looked at; the largest one: it was told.
  std::unordered_map<Uid, std::uint64_t> looked_;
  std::optional<std::uint64_t> read_;     // version of the book
  std::map<std::string, double> failed_;  // by family: the latest failure that was told, or is old
};

}  // namespace slackline::control
