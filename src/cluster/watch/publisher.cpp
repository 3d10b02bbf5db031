#include "cluster/watch/publisher.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "slackline/base/pace.h"

namespace slackline::cluster {
namespace {

constexpr PaceLimits kPublications{.share = 0.03, .most_saved_s = 0.02, .most_rest_s = 0.05};

}  // namespace

Publisher::Publisher(Cache& cache, std::function<void()> tick)
    : cache_(cache), tick_(std::move(tick)) {}

Publisher::~Publisher() {
  stop();
  join();
}

void Publisher::start() {
  thread_ = std::thread(&Publisher::run, this);
}

void Publisher::stop() {
  stopping_ = true;
  cache_.wake();
}

void Publisher::join() {
  if (thread_.joinable()) thread_.join();
}

void Publisher::run() {
  const Clock& clock = system_clock();
  Pace pace(kPublications);
  double ticked_s = 0;
  while (!stopping_) {
    const bool changed = cache_.wait_for_change(1.0);
    if (stopping_) return;
    const double began_s = clock.steady_s();
    if (changed) cache_.publish();
    const double ended_s = clock.steady_s();
    if (changed && published_) published_();
    if (ended_s - ticked_s >= 1.0) {
      ticked_s = ended_s;
      tick_();
    }
    if (!changed) continue;
    const double rest_s = pace.worked(began_s, ended_s) - ended_s;
    std::this_thread::sleep_for(
        std::chrono::duration<double>(std::max(kPublishInterval_s, rest_s)));
  }
}

}  // namespace slackline::cluster
