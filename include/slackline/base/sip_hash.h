// SipHash (Aumasson and Bernstein, 2012): a hash whose values nobody can predict without the key,
// so that nobody can send thousands of names that collide. A seed alone is not enough: names that
// collide under a hash that is only seeded collide under every seed.
#pragma once

#include <bit>
#include <cstdint>
#include <string_view>

#include "slackline/base/words.h"

namespace slackline {

struct HashKey {
  std::uint64_t first = 0;
  std::uint64_t second = 0;
};

// Drawn from the system's randomness by the first call; the same for the life of the process.
const HashKey& process_hash_key();

// SipHash-c-d: c rounds for every eight bytes, d rounds at the end. Hash tables use 1-3.
template <int c = 1, int d = 3>
std::uint64_t sip_hash(const HashKey& key, std::string_view text) {
  std::uint64_t v0 = key.first ^ 0x736f6d6570736575ULL;
  std::uint64_t v1 = key.second ^ 0x646f72616e646f6dULL;
  std::uint64_t v2 = key.first ^ 0x6c7967656e657261ULL;
  std::uint64_t v3 = key.second ^ 0x7465646279746573ULL;
  const auto rounds = [&](int count) {
    for (int i = 0; i < count; ++i) {
      v0 += v1;
      v2 += v3;
      v1 = std::rotl(v1, 13) ^ v0;
      v3 = std::rotl(v3, 16) ^ v2;
      v0 = std::rotl(v0, 32);
      v2 += v1;
      v0 += v3;
      v1 = std::rotl(v1, 17) ^ v2;
      v3 = std::rotl(v3, 21) ^ v0;
      v2 = std::rotl(v2, 32);
    }
  };
  const auto take = [&](std::uint64_t word) {
    v3 ^= word;
    rounds(c);
    v0 ^= word;
  };
  std::size_t at = 0;
  for (; at + 8 <= text.size(); at += 8)
    take(word_at(text.data() + at));
  std::uint64_t last = static_cast<std::uint64_t>(text.size()) << 56U;
  const std::size_t rest = text.size() - at;
  if (rest > 0 && at > 0) {
    // The last eight bytes, less those already read: no name needs a loop over bytes.
    last |= word_at(text.data() + text.size() - 8) >> (8 * (8 - rest));
  } else {
    for (std::size_t i = 0; i < rest; ++i)
      last |= std::uint64_t{static_cast<unsigned char>(text[at + i])} << (8 * i);
  }
  take(last);
  v2 ^= 0xff;
  rounds(d);
  return v0 ^ v1 ^ v2 ^ v3;
}

}  // namespace slackline
