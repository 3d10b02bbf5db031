// Which rows of a list a reader sees, and in which order: search, filter, sort. Pure.
//
// A word of `search` must be in one of the texts that name or describe the row, in any case; every
// word must. Rows without a value of the sort key come last, whichever the direction; rows that are
// equal keep the order of the list.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "message/queue_view.h"
#include "message/views.h"
#include "slackline/base/result.h"

namespace slackline::control {

struct Arrangement {
  std::string search{};
  std::string state{};  // one of states_of<Row>(); empty: any
  std::string
      sort{};  // one of sort_keys_of<Row>(), with "-" before it: descending; empty: as it is
};

template <class Row>
const std::vector<std::string_view>& sort_keys_of();
template <class Row>
const std::vector<std::string_view>& states_of();

// kInvalidArgument names what may be asked for.
Status arrange(std::vector<QueueRow>& rows, const Arrangement& asked);
Status arrange(std::vector<ListedTask>& rows, const Arrangement& asked);
Status arrange(std::vector<ListedNode>& rows, const Arrangement& asked);

}  // namespace slackline::control
