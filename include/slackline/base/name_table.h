// NameTable: thousands of names and their places 0, 1, 2 ... in the order of insertion.
//
// Open addressing over views: the names live elsewhere, and longer. Memory is kept across reset(),
// so that one table serves many requests without allocating. Where the names come from outside, the
// key is one that nobody knows (process_hash_key()): then no choice of names makes it slow.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "slackline/base/sip_hash.h"

namespace slackline {

class NameTable {
 public:
  explicit NameTable(const HashKey& key = {}) : key_(key) {}

  // Forgets everything and makes room for this many names; the caller must not insert more.
  void reset(std::size_t names);

  // False when the name is there already.
  bool insert(std::string_view name);

  std::optional<std::uint32_t> find(std::string_view name) const;
  const std::vector<std::string_view>& names() const { return names_; }  // by place

 private:
  struct Slot {
    std::uint32_t tag = 0;    // other bits of the hash than those that chose the slot
    std::uint32_t place = 0;  // plus one; 0: empty
  };

  // The slot of the name, or the empty one where it belongs.
  std::size_t slot_of(std::string_view name, std::uint64_t hash) const;

  HashKey key_;
  std::vector<Slot> slots_;  // a power of two, at most half full
  std::vector<std::string_view> names_;
};

}  // namespace slackline
