// TaskList: tasks in the order in which they were added. Removing one from the middle costs as
// little as from an end: a plan may start ten thousand of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <vector>

namespace slackline::core {

using TaskIndex = std::uint32_t;  // into TaskTable

class TaskList {
 public:
  class Iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = TaskIndex;
    using difference_type = std::ptrdiff_t;
    using pointer = const TaskIndex*;
    using reference = const TaskIndex&;

    Iterator() = default;
    reference operator*() const { return at_; }
    Iterator& operator++() {
      at_ = list_->links_[at_].after;
      return *this;
    }
    Iterator operator++(int) {
      const Iterator before = *this;
      ++*this;
      return before;
    }
    friend bool operator==(const Iterator& a, const Iterator& b) { return a.at_ == b.at_; }

   private:
    friend class TaskList;
    Iterator(const TaskList& list, TaskIndex at) : list_(&list), at_(at) {}

    const TaskList* list_ = nullptr;
    TaskIndex at_ = kEnd;
  };

  using value_type = TaskIndex;
  using const_iterator = Iterator;

  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }
  Iterator begin() const { return {*this, first_}; }
  Iterator end() const { return {*this, kEnd}; }

  // It must not be in the list.
  void push_back(TaskIndex task) {
    if (task >= links_.size()) links_.resize(std::size_t{task} + 1);
    links_[task] = {last_, kEnd};
    (last_ == kEnd ? first_ : links_[last_].after) = task;
    last_ = task;
    ++size_;
  }
  // It must be in the list.
  void remove(TaskIndex task) {
    const Links links = links_[task];
    (links.before == kEnd ? first_ : links_[links.before].after) = links.after;
    (links.after == kEnd ? last_ : links_[links.after].before) = links.before;
    --size_;
  }

 private:
  static constexpr TaskIndex kEnd = std::numeric_limits<TaskIndex>::max();
  struct Links {
    TaskIndex before = kEnd;
    TaskIndex after = kEnd;
  };

  std::vector<Links> links_;  // by task
  TaskIndex first_ = kEnd;
  TaskIndex last_ = kEnd;
  std::size_t size_ = 0;
};

}  // namespace slackline::core
