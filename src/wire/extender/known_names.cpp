#include "wire/extender/known_names.h"

#include <cstring>
#include <vector>

#include "slackline/base/words.h"

namespace slackline::wire {
namespace {

bool begins_with(std::string_view items, const NodeNames& known, NodeIndex index) {
  if (index >= known.size()) return false;
  const std::string_view item = known.quoted(index, index);
  return items.size() >= item.size() && same_name(items.substr(0, item.size()), item);
}

// The node that the first item names. A plain name has no quote and no escape in it.
std::optional<NodeIndex> first_of(std::string_view items, const NodeNames& known) {
  const std::size_t end = items.find('"', 1);
  if (items.front() != '"' || end == std::string_view::npos) return std::nullopt;
  return known.find(items.substr(1, end - 1));
}

}  // namespace

std::optional<NamesLast> split_names(std::string_view body) {
  constexpr std::string_view kOpening = R"("NodeNames":[)";
  constexpr std::string_view kClosing = "]}";
  if (!body.ends_with(kClosing)) return std::nullopt;
  // No plain name has a bracket in it. Unlike rfind(), memrchr() sees many bytes at once.
  const auto* bracket = static_cast<const char*>(::memrchr(body.data(), '[', body.size()));
  if (bracket == nullptr) return std::nullopt;
  const std::string_view head = body.substr(0, static_cast<std::size_t>(bracket - body.data()) + 1);
  if (!head.ends_with(kOpening)) return std::nullopt;
  return NamesLast{head, body.substr(head.size(), body.size() - head.size() - kClosing.size())};
}

bool read_known_names(std::string_view items, const NodeNames& known, std::size_t most,
                      NodesRequest& request) {
  std::vector<bool> seen(known.size());
  request.node_names.reserve(known.size());
  request.nodes.reserve(known.size());
  NodeIndex index = 0;  // a guess: the one after the last
  for (std::size_t read = 0; !items.empty(); ++read) {
    if (read == most) return false;
    if (!begins_with(items, known, index)) {
      const auto found = first_of(items, known);
      if (!found) return false;
      index = *found;
    }
    if (!seen[index]) {
      seen[index] = true;
      request.node_names.push_back(known.at(index));
      request.nodes.push_back(index);
    }
    items.remove_prefix(known.quoted(index, index).size());
    ++index;
    if (items.empty()) break;
    if (items.front() != ',' || items.size() == 1) return false;
    items.remove_prefix(1);
  }
  return true;
}

}  // namespace slackline::wire
