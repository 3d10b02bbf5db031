#include "slackline/model/placement.h"

#include "slackline/base/text.h"

namespace slackline {
namespace {

constexpr std::int64_t kMaxFactor = 65536;

}  // namespace

std::string Placement::str() const {
  return format("{}x{}", d_node, d_gpn);
}

Result<Placement> parse_placement(std::string_view text) {
  const auto factors = split(text, 'x');
  if (factors.size() == 2) {
    const auto nodes = parse_int(factors[0]);
    const auto gpus = parse_int(factors[1]);
    if (nodes && gpus && *nodes >= 1 && *nodes <= kMaxFactor && *gpus >= 1 && *gpus <= kMaxFactor)
      return Placement{static_cast<int>(*nodes), static_cast<int>(*gpus)};
  }
  return fail(ErrorCode::kInvalidArgument,
              format("\"{}\" is not a placement: write nodes x GPUs per node (example: 2x4)",
                     printable(text, 64)));
}

}  // namespace slackline
