// Input buffers that are borrowed while a request is being read, within one budget.
//
// Idle connections hold none. Memory is not touched before bytes arrive, so a large Content-Length
// alone costs nothing. One thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

namespace slackline::http {

class InputBuffer {
 public:
  std::string_view bytes() const { return {data_.get(), size_}; }
  std::size_t size() const { return size_; }
  std::size_t capacity() const { return capacity_; }
  char* free_space() { return data_.get() + size_; }
  std::size_t free_size() const { return capacity_ - size_; }
  void add(std::size_t count) { size_ += count; }
  void remove_front(std::size_t count) {
    size_ -= count;
    std::memmove(data_.get(), data_.get() + count, size_);
  }

 private:
  friend class BufferPool;
  std::unique_ptr<char[]> data_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

class BufferPool {
 public:
  static constexpr std::size_t kInitial = std::size_t{16} << 10;
  static constexpr std::size_t kKept = std::size_t{1} << 20;  // larger ones go back to the system

  explicit BufferPool(std::size_t budget) : budget_(budget) {}

  // An empty buffer, warm if one is there. False when the budget is spent.
  bool borrow(InputBuffer& buffer) {
    if (buffer.capacity_ > 0) return true;
    if (spare_.empty()) return grow(buffer, kInitial);
    buffer = std::move(spare_.back());
    spare_.pop_back();
    buffer.size_ = 0;
    return true;
  }

  // Room for `wanted` bytes, with what is in it kept. False when the budget is spent.
  bool grow(InputBuffer& buffer, std::size_t wanted) {
    if (wanted <= buffer.capacity_) return true;
    const std::size_t extra = wanted - buffer.capacity_;
    if (in_use_ + extra > budget_) return false;
    std::unique_ptr<char[]> data(new char[wanted]);
    if (buffer.size_ > 0) std::memcpy(data.get(), buffer.data_.get(), buffer.size_);
    buffer.data_ = std::move(data);
    buffer.capacity_ = wanted;
    in_use_ += extra;
    return true;
  }

  void give_back(InputBuffer& buffer) {
    if (buffer.capacity_ == 0) return;
    InputBuffer taken = std::exchange(buffer, InputBuffer());
    if (taken.capacity_ <= kKept && spare_.size() < kSpare)
      spare_.push_back(std::move(taken));
    else
      in_use_ -= taken.capacity_;
  }

 private:
  static constexpr std::size_t kSpare = 8;

  std::size_t budget_;
  std::size_t in_use_ = 0;
  std::vector<InputBuffer> spare_;
};

}  // namespace slackline::http
