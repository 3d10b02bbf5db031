// Whole lists: asks for one part after the other, as `continue` says, and puts them together.
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

// What the server would answer if it answered all at once: one heading, columns below each other,
// items in one list. Where `limit` cuts it, JSON says in metadata.continue where it goes on and a
// table how many rows are left. The server keeps a list while it is read; one that was given up
// meanwhile is asked for anew, three times at most.
Result<std::string> get_list(Client& client, const std::string& path, const ListOptions& options);

}  // namespace slackline::client
