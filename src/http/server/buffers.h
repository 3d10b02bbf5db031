// Input buffers that are lent while a request is read. Idle connections hold none.
//
// A buffer grows with the bytes that have arrived, never with the announced length: it is at most
// twice as large. peers.h decides how much each peer may keep. One thread.
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

  BufferPool() { spare_.reserve(kSpare); }  // giving back needs no memory

  // Makes room for at least one more byte and keeps the content: at first a warm buffer if there is
  // one, later twice the room, but at most `most`.
  void make_room(InputBuffer& buffer, std::size_t most) {
    if (buffer.capacity_ == 0) return borrow(buffer);
    if (buffer.free_size() > 0) return;
    grow(buffer, std::max(buffer.size_ + 1, std::min(most, buffer.capacity_ * 2)));
  }

  void give_back(InputBuffer& buffer) {
    if (buffer.capacity_ == 0) return;
    InputBuffer taken = std::exchange(buffer, InputBuffer());
    if (taken.capacity_ <= kKept && spare_.size() < kSpare) spare_.push_back(std::move(taken));
  }

 private:
  static constexpr std::size_t kSpare = 8;

  void borrow(InputBuffer& buffer) {
    if (spare_.empty()) return grow(buffer, kInitial);
    buffer = std::move(spare_.back());
    spare_.pop_back();
    buffer.size_ = 0;
  }

  static void grow(InputBuffer& buffer, std::size_t capacity) {
    std::unique_ptr<char[]> data(new char[capacity]);
    if (buffer.size_ > 0) std::memcpy(data.get(), buffer.data_.get(), buffer.size_);
    buffer.data_ = std::move(data);
    buffer.capacity_ = capacity;
  }

  std::vector<InputBuffer> spare_;
};

}  // namespace slackline::http
