#include "slackline/base/name_table.h"

#include <algorithm>
#include <bit>

#include "slackline/base/words.h"

namespace slackline {
namespace {

constexpr std::size_t kMinSlots = 16;

std::uint32_t tag_of(std::uint64_t hash) {
  return static_cast<std::uint32_t>(hash >> 32U);
}

}  // namespace

void NameTable::reset(std::size_t names) {
  slots_.assign(std::bit_ceil(std::max(names * 2, kMinSlots)), Slot{});
  names_.clear();
  names_.reserve(names);
}

std::size_t NameTable::slot_of(std::string_view name, std::uint64_t hash) const {
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t at = hash & mask;; at = (at + 1) & mask) {
    const Slot slot = slots_[at];
    if (slot.place == 0 || (slot.tag == tag_of(hash) && same_name(names_[slot.place - 1], name)))
      return at;
  }
}

bool NameTable::insert(std::string_view name) {
  const std::uint64_t hash = sip_hash(key_, name);
  Slot& slot = slots_[slot_of(name, hash)];
  if (slot.place != 0) return false;
  names_.push_back(name);
  slot = {tag_of(hash), static_cast<std::uint32_t>(names_.size())};
  return true;
}

std::optional<std::uint32_t> NameTable::find(std::string_view name) const {
  if (slots_.empty()) return std::nullopt;
  const Slot slot = slots_[slot_of(name, sip_hash(key_, name))];
  if (slot.place == 0) return std::nullopt;
  return slot.place - 1;
}

}  // namespace slackline
