#include "slackline/model/node_names.h"

#include <algorithm>

namespace slackline {
namespace {

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
}

}  // namespace

NodeNames::NodeNames(const std::vector<NodeStatePtr>& nodes, const HashKey& key) : table_(key) {
  constexpr std::size_t kQuotesAndComma = 3;
  std::size_t bytes = 0;
  for (const NodeStatePtr& state : nodes)
    bytes += state->node->name.str().size() + kQuotesAndComma;
  text_.reserve(bytes);
  table_.reset(nodes.size());
  for (const NodeStatePtr& state : nodes) {
    const std::string& name = state->node->name.str();
    plain_ = plain_ && std::all_of(name.begin(), name.end(), is_plain);
    if (!text_.empty()) text_ += ',';
    text_ += '"';
    text_ += name;
    table_.insert(std::string_view(text_).substr(text_.size() - name.size()));
    text_ += '"';
  }
}

}  // namespace slackline
