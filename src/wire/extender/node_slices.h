// The Node documents of a full-object request as raw slices, so that filter answers with the same
// bytes that it was sent. The JSON must have been validated already: this only counts brackets.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

namespace slackline::wire {

struct NodeListSlices {
  // The members of the NodeList besides its items ("metadata", "kind"), as raw key and value.
  std::vector<std::pair<std::string_view, std::string_view>> others;
  std::vector<std::string_view> items;  // in order
};

// The slices of the member "nodes" (any case) of the root object; empty if there is none.
NodeListSlices slice_nodes(std::string_view valid_json);

}  // namespace slackline::wire
