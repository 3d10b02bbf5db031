#include "slackline/base/sip_hash.h"

#include <random>

namespace slackline {

const HashKey& process_hash_key() {
  static const HashKey kKey = [] {
    std::random_device random;
    const auto word = [&] { return std::uint64_t{random()} << 32U | random(); };
    return HashKey{word(), word()};
  }();
  return kKey;
}

}  // namespace slackline
