#include "slackline/base/worker.h"

#include <utility>

#include "slackline/base/clock.h"

namespace slackline {

Worker::~Worker() {
  stop();
  join();
}

void Worker::start(std::function<void()> work) {
  thread_ = std::thread(std::move(work));
}

void Worker::stop() {
  MutexLock lock(mutex_);
  stopping_ = true;
  wake_.notify_all();
}

void Worker::join() {
  if (thread_.joinable()) thread_.join();
}

bool Worker::is_stopping() const {
  MutexLock lock(mutex_);
  return stopping_;
}

bool Worker::wait(double seconds) {
  const Clock& clock = system_clock();
  const double until_s = clock.steady_s() + seconds;
  MutexLock lock(mutex_);
  for (double left_s = seconds; !stopping_ && left_s > 0; left_s = until_s - clock.steady_s())
    wake_.wait_for_s(mutex_, left_s);
  return !stopping_;
}

}  // namespace slackline
