// NodeNames of a request, compared with the known nodes: kube-scheduler lists most nodes, mostly in
// the order of their names, so that thousands of names need neither parsing nor lookups.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "slackline/model/extender_messages.h"
#include "slackline/model/node_names.h"

namespace slackline::wire {

// A body whose last field is NodeNames, as Go writes it.
struct NamesLast {
  std::string_view head;   // up to and with the opening bracket; unchecked
  std::string_view items;  // between the brackets
};
std::optional<NamesLast> split_names(std::string_view body);

// Fills the request's names and indices, each node once, with views into `known`, whose names are
// plain. False at the first item that is unknown or not written as Go writes it, and if there are
// more than `most` items.
bool read_known_names(std::string_view items, const NodeNames& known, std::size_t most,
                      NodesRequest& request);

}  // namespace slackline::wire
