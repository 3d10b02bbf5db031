#include "slackline/model/placement.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "slackline/base/text.h"

namespace slackline {
namespace {

constexpr std::size_t kMaxNodes = 4096;  // of a layout

tl::unexpected<Error> not_a_layout(std::string_view text) {
  return fail(ErrorCode::kInvalidArgument,
              format("\"{}\" is not a layout: write nodes x GPUs per node (example: 2x4) or the "
                     "GPUs of each node (example: 4+2+1)",
                     printable(text, 64)));
}

}  // namespace

std::string Placement::str() const {
  return format("{}x{}", d_node, d_gpn);
}

Result<Placement> parse_placement(std::string_view text) {
  const auto factors = split(text, 'x');
  if (factors.size() == 2) {
    const auto nodes = parse_int(factors[0]);
    const auto gpus = parse_int(factors[1]);
    if (nodes && gpus && *nodes >= 1 && *nodes <= kMaxNodesOfShape && *gpus >= 1 &&
        *gpus <= kMaxGpusPerNode)
      return Placement{static_cast<int>(*nodes), static_cast<int>(*gpus)};
  }
  return fail(ErrorCode::kInvalidArgument,
              format("\"{}\" is not a placement: write nodes x GPUs per node (example: 2x4)",
                     printable(text, 64)));
}

Placement clamped_placement(std::int64_t d_node, std::int64_t d_gpn) {
  return {static_cast<int>(std::clamp<std::int64_t>(d_node, 1, kMaxNodesOfShape)),
          static_cast<int>(std::clamp<std::int64_t>(d_gpn, 1, kMaxGpusPerNode))};
}

Result<Layout> Layout::of(std::vector<int> gpus_per_node) {
  if (gpus_per_node.empty() || gpus_per_node.size() > kMaxNodes)
    return fail(ErrorCode::kInvalidArgument, format("a layout has 1 to {} nodes", kMaxNodes));
  for (const int gpus : gpus_per_node)
    if (gpus < 1 || gpus > kMaxGpusPerNode)
      return fail(ErrorCode::kInvalidArgument,
                  format("a node of a layout has 1 to {} GPUs, not {}", kMaxGpusPerNode, gpus));
  std::sort(gpus_per_node.begin(), gpus_per_node.end(), std::greater<>());
  Layout layout;
  layout.gpus_per_node_ = std::move(gpus_per_node);
  return layout;
}

Spread Layout::spread() const {
  Spread spread;
  spread.gpus = std::accumulate(gpus_per_node_.begin(), gpus_per_node_.end(), 0);
  spread.nodes = static_cast<int>(gpus_per_node_.size());
  spread.most_per_node = gpus_per_node_.front();
  return spread;
}

std::string Layout::str() const {
  if (symmetric()) return format("{}x{}", gpus_per_node_.size(), gpus_per_node_.front());
  return format("{}", fmt::join(gpus_per_node_, "+"));
}

Result<Layout> parse_layout(std::string_view text) {
  if (text.find('x') != std::string_view::npos) {
    const auto shape = parse_placement(text);
    if (!shape || static_cast<std::size_t>(shape->d_node) > kMaxNodes) return not_a_layout(text);
    return Layout(*shape);
  }
  std::vector<int> gpus_per_node;
  for (const std::string_view part : split(text, '+')) {
    const auto gpus = parse_int(part);
    if (!gpus || *gpus < 1 || *gpus > kMaxGpusPerNode || gpus_per_node.size() == kMaxNodes)
      return not_a_layout(text);
    gpus_per_node.push_back(static_cast<int>(*gpus));
  }
  return Layout::of(std::move(gpus_per_node));
}

}  // namespace slackline
