// QueueNames: the names of queues as labels of metrics. People choose them, so their number has a
// limit: the first `most` that come keep their names, every further one is "other".
//
// Not thread-safe.
#pragma once

#include <cstddef>
#include <set>
#include <string>

namespace slackline::control {

class QueueNames {
 public:
  explicit QueueNames(std::size_t most) : most_(most) {}

  std::string label_of(const std::string& queue) {
    if (!known_.contains(queue)) {
      if (known_.size() >= most_) return "other";
      known_.insert(queue);
    }
    return queue;
  }

 private:
  const std::size_t most_;
  std::set<std::string> known_;
};

}  // namespace slackline::control
