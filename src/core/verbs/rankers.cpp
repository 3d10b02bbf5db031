// The rankers by name.
#include "ranker_cer.h"

namespace slackline::core {
namespace {

constexpr CerRanker kCer;
constexpr const Ranker* kRankers[] = {&kCer};

}  // namespace

std::span<const Ranker* const> rankers() {
  return kRankers;
}

}  // namespace slackline::core
