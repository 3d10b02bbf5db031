// Address: the parts of a server's http or https URL.
#pragma once

#include <string>
#include <string_view>

#include "slackline/base/result.h"

namespace slackline::client {

struct Address {
  bool tls = false;
  std::string host;  // an IPv6 address without its brackets
  int port = 0;
  std::string prefix;  // "/slackline", the prefix of every path; may be empty

  // "https://host:8180", without the prefix.
  std::string origin() const;
};

// "http://host:8180/prefix", or the same without a scheme, which means http. The port is by default
// that of the scheme. kInvalidArgument: another scheme, a user, a query, or no host.
Result<Address> parse_address(std::string_view url);

}  // namespace slackline::client
