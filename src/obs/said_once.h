// SaidOnce: reports a failure that repeats for the same reason only once.
//
// Not thread-safe.
#pragma once

#include <string>
#include <utility>

namespace slackline::obs {

class SaidOnce {
 public:
  // True if `outcome` (a Result or Status) is a failure that differs from the last one.
  template <class Outcome>
  bool is_news(const Outcome& outcome) {
    std::string failure = outcome ? std::string() : outcome.error().message;
    const bool news = !failure.empty() && failure != last_;
    last_ = std::move(failure);
    return news;
  }

 private:
  std::string last_;
};

}  // namespace slackline::obs
