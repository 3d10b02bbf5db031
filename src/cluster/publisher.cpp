#include "cluster/publisher.h"

#include <chrono>
#include <utility>

namespace slackline::cluster {

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
  double ticked_s = 0;
  while (!stopping_) {
    const bool changed = cache_.wait_for_change(1.0);
    if (stopping_) return;
    if (changed) cache_.publish();
    if (changed && published_) published_();
    if (const double now_s = system_clock().steady_s(); now_s - ticked_s >= 1.0) {
      ticked_s = now_s;
      tick_();
    }
    if (changed) std::this_thread::sleep_for(std::chrono::duration<double>(kPublishInterval_s));
  }
}

}  // namespace slackline::cluster
