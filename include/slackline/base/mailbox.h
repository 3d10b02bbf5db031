// Mailbox: a bounded queue from any threads to those that do the work.
//
//   worker: while (const auto item = mailbox.wait_pop()) do_it(*item);
//   others: if (!mailbox.push(item)) count_as_dropped();
//
// What waits when it is closed is given up, unless the workers take it with pop(). Thread-safe.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <optional>
#include <utility>

#include "slackline/base/mutex.h"

namespace slackline {

template <class T>
class Mailbox {
 public:
  explicit Mailbox(std::size_t limit) : limit_(limit) {}
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;

  // False: full or closed; the item is dropped. Never waits.
  bool push(T item) {
    return push_over(std::move(item), [](const T&) { return false; });
  }

  // Takes the place of the first waiting item for which `is_same` is true; without one, as push().
  template <class IsSame>
  bool push_over(T item, const IsSame& is_same) {
    MutexLock lock(mutex_);
    if (closed_) return false;
    const auto older = std::find_if(items_.begin(), items_.end(), is_same);
    if (older != items_.end()) {
      *older = std::move(item);
      return true;
    }
    if (items_.size() >= limit_) return false;
    items_.push_back(std::move(item));
    arrived_.notify_one();
    return true;
  }

  // The item that has waited longest, once there is one; nullopt: closed.
  std::optional<T> wait_pop() {
    MutexLock lock(mutex_);
    while (items_.empty() && !closed_)
      arrived_.wait(mutex_);
    return closed_ ? std::nullopt : take();
  }

  // Also of a closed one; nullopt: nothing waits.
  std::optional<T> pop() {
    MutexLock lock(mutex_);
    return take();
  }

  // Drops what waits.
  void clear() {
    MutexLock lock(mutex_);
    items_.clear();
  }

  // Nothing is pushed any more, and nobody waits.
  void close() {
    MutexLock lock(mutex_);
    closed_ = true;
    arrived_.notify_all();
  }

  bool full() const {
    MutexLock lock(mutex_);
    return items_.size() >= limit_;
  }

 private:
  std::optional<T> take() SLACKLINE_REQUIRES(mutex_) {
    if (items_.empty()) return std::nullopt;
    std::optional<T> item(std::move(items_.front()));
    items_.pop_front();
    return item;
  }

  const std::size_t limit_;
  mutable Mutex mutex_;
  CondVar arrived_;
  std::deque<T> items_ SLACKLINE_GUARDED_BY(mutex_);
  bool closed_ SLACKLINE_GUARDED_BY(mutex_) = false;
};

}  // namespace slackline
