// Where listeners listen: HOST:PORT, [IPv6]:PORT or :PORT.
//
// Private to this layer. HOST is an IP address or localhost: a name would be looked up once, by
// somebody, and might be another machine tomorrow.
#pragma once

#include <string>

#include "slackline/base/result.h"

namespace slackline::config {

struct Address {
  std::string host;  // empty: every interface
  int port = 0;      // 0: any free one
};

// The error says what is wrong and what it may be.
Result<Address> parse_address(const std::string& text);

// Whether both cannot be listened on at once.
bool clash(const Address& a, const Address& b);

}  // namespace slackline::config
