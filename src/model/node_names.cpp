#include "slackline/model/node_names.h"

namespace slackline {

NodeNames::NodeNames(const std::vector<NodeStatePtr>& nodes) {
  std::size_t bytes = 0;
  for (const NodeStatePtr& state : nodes)
    bytes += state->node->name.str().size();
  text_.reserve(bytes);
  table_.reset(nodes.size());
  for (const NodeStatePtr& state : nodes) {
    const std::string& name = state->node->name.str();
    text_ += name;
    table_.insert(std::string_view(text_).substr(text_.size() - name.size()));
  }
}

}  // namespace slackline
