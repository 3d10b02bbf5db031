#include "http/server/thread_pool.h"

#include <utility>

#include "http/server/peers.h"

namespace slackline::http {

ThreadPool::ThreadPool(std::size_t max_threads, std::size_t max_queue)
    : max_threads_(max_threads), max_queue_(max_queue) {}

ThreadPool::~ThreadPool() {
  stop();
}

bool ThreadPool::submit(const std::string& peer, std::function<void()> task) {
  const MutexLock lock(mutex_);
  const auto known = peers_.find(peer);
  const std::size_t held = known == peers_.end() ? 0 : known->second.unfinished;
  if (stopping_ || !may_take(max_threads_ + max_queue_, unfinished_, held, 1)) return false;
  Peer* mine = nullptr;
  try {
    if (unfinished_ >= threads_.size() && threads_.size() < max_threads_)
      threads_.emplace_back([this] { work(); });
    served_.reserve(peer.size());  // work() may not run out of memory
    mine = &peers_[peer];
    mine->waiting.push_back(std::move(task));
  } catch (const std::exception&) {  // no thread, or no memory
    return false;
  }
  ++unfinished_;
  ++waiting_;
  ++mine->unfinished;
  wake_.notify_one();
  return true;
}

// The first peer after the last one served that has a task waiting; there is one.
ThreadPool::Peers::iterator ThreadPool::next_peer() {
  auto next = peers_.upper_bound(served_);
  for (;;) {
    if (next == peers_.end()) next = peers_.begin();
    if (!next->second.waiting.empty()) return next;
    ++next;
  }
}

void ThreadPool::work() {
  mutex_.lock();
  for (;;) {
    while (waiting_ == 0 && !stopping_)
      wake_.wait(mutex_);
    if (waiting_ == 0) break;
    const auto peer = next_peer();  // stays until its last task has ended
    served_ = peer->first;
    std::function<void()> task = std::move(peer->second.waiting.front());
    peer->second.waiting.pop_front();
    --waiting_;
    mutex_.unlock();
    task();
    task = nullptr;  // what it holds is released outside the lock
    mutex_.lock();
    --unfinished_;
    if (--peer->second.unfinished == 0) peers_.erase(peer);
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
