#include "http/pools.h"

#include <utility>

namespace slackline::http {

ThreadPool::ThreadPool(std::size_t max_threads, std::size_t max_queue)
    : max_threads_(max_threads), max_queue_(max_queue) {}

ThreadPool::~ThreadPool() {
  stop();
}

bool ThreadPool::submit(std::function<void()> task) {
  const MutexLock lock(mutex_);
  if (stopping_ || unfinished_ >= max_threads_ + max_queue_) return false;
  if (unfinished_ >= threads_.size() && threads_.size() < max_threads_)
    threads_.emplace_back([this] { work(); });
  ++unfinished_;
  queue_.push_back(std::move(task));
  wake_.notify_one();
  return true;
}

void ThreadPool::work() {
  mutex_.lock();
  for (;;) {
    while (queue_.empty() && !stopping_)
      wake_.wait(mutex_);
    if (queue_.empty()) break;
    std::function<void()> task = std::move(queue_.front());
    queue_.pop_front();
    mutex_.unlock();
    task();
    task = nullptr;  // what it holds is released outside the lock
    mutex_.lock();
    --unfinished_;
  }
  mutex_.unlock();
}

void ThreadPool::stop() {
  std::vector<std::thread> threads;
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
    threads.swap(threads_);
  }
  wake_.notify_all();
  for (std::thread& thread : threads)
    thread.join();
}

}  // namespace slackline::http
