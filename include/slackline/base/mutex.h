// Mutex, MutexLock and CondVar: std::mutex with clang's thread-safety annotations, which do not
// understand libstdc++'s own types. `int x SLACKLINE_GUARDED_BY(mutex_)` is checked at compile
// time.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

#if defined(__clang__)
#define SLACKLINE_THREAD_ANNOTATION(x) __attribute__((x))
#else
#define SLACKLINE_THREAD_ANNOTATION(x)
#endif

#define SLACKLINE_GUARDED_BY(m) SLACKLINE_THREAD_ANNOTATION(guarded_by(m))
#define SLACKLINE_REQUIRES(...) SLACKLINE_THREAD_ANNOTATION(requires_capability(__VA_ARGS__))
#define SLACKLINE_EXCLUDES(...) SLACKLINE_THREAD_ANNOTATION(locks_excluded(__VA_ARGS__))

namespace slackline {

class SLACKLINE_THREAD_ANNOTATION(capability("mutex")) Mutex {
 public:
  void lock() SLACKLINE_THREAD_ANNOTATION(acquire_capability()) { mutex_.lock(); }
  void unlock() SLACKLINE_THREAD_ANNOTATION(release_capability()) { mutex_.unlock(); }

 private:
  std::mutex mutex_;
};

class SLACKLINE_THREAD_ANNOTATION(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) SLACKLINE_THREAD_ANNOTATION(acquire_capability(mutex))
      : mutex_(mutex) {
    mutex_.lock();
  }
  ~MutexLock() SLACKLINE_THREAD_ANNOTATION(release_capability()) { mutex_.unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

// Wait in a loop that re-checks the condition: wake-ups may be spurious.
class CondVar {
 public:
  void wait(Mutex& mutex) SLACKLINE_REQUIRES(mutex) { cv_.wait(mutex); }
  void wait_for_s(Mutex& mutex, double seconds) SLACKLINE_REQUIRES(mutex) {
    cv_.wait_for(mutex, std::chrono::duration<double>(seconds));
  }
  void notify_one() { cv_.notify_one(); }
  void notify_all() { cv_.notify_all(); }

 private:
  std::condition_variable_any cv_;
};

}  // namespace slackline
