// Whole lists: requests one part after the other, by `continue`, and joins them.
#pragma once

#include <cstddef>
#include <string>

#include "client/client.h"
#include "slackline/base/result.h"

namespace slackline::client {

struct ListOptions {
  std::string output = "json";  // as the query parameter `output`
  std::size_t limit = 0;        // rows; 0 = all of them
};

// The answer that the server would give in one part: one heading, columns below each other, items
// in one list. If `limit` cuts it, JSON has metadata.continue and a table says how many rows are
// left. The server keeps a list while it is read; if it has dropped the list meanwhile, the client
// requests it again, three times at most.
Result<std::string> get_list(Client& client, const std::string& path, const ListOptions& options);

}  // namespace slackline::client
