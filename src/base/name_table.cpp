#include "slackline/base/name_table.h"

#include <algorithm>
#include <bit>

#include "slackline/base/words.h"

namespace slackline {
namespace {

constexpr std::size_t kMinSlots = 16;

// Eight bytes at a time, the last eight overlapping those before: no name costs a byte loop.
std::uint64_t hash_of(std::string_view name) {
  constexpr std::uint64_t kMultiplier = 0x9E3779B97F4A7C15ULL;
  std::uint64_t value = name.size() * kMultiplier;
  const auto mix = [&value](std::uint64_t word) {
    value = (std::rotl(value, 23) ^ word) * kMultiplier;
  };
  if (name.size() < 8) {
    for (const char c : name)
      mix(static_cast<unsigned char>(c));
  } else {
    for (std::size_t at = 0; at + 8 < name.size(); at += 8)
      mix(word_at(name.data() + at));
    mix(word_at(name.data() + name.size() - 8));
  }
  // The last characters, in which names differ most, have reached the highest bits only.
  value = (value ^ (value >> 32U)) * kMultiplier;
  return value ^ (value >> 32U);
}

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
  const std::uint64_t hash = hash_of(name);
  Slot& slot = slots_[slot_of(name, hash)];
  if (slot.place != 0) return false;
  names_.push_back(name);
  slot = {tag_of(hash), static_cast<std::uint32_t>(names_.size())};
  return true;
}

std::optional<std::uint32_t> NameTable::find(std::string_view name) const {
  if (slots_.empty()) return std::nullopt;
  const Slot slot = slots_[slot_of(name, hash_of(name))];
  if (slot.place == 0) return std::nullopt;
  return slot.place - 1;
}

}  // namespace slackline
