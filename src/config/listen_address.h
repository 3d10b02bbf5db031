// Where listeners listen: HOST:PORT, [IPv6]:PORT or :PORT.
//
// Private to this layer. HOST is an IP address or localhost: a name would be looked up once and
// might mean another machine tomorrow.
#pragma once

#include <string>

#include "slackline/base/result.h"

namespace slackline::config {

struct Address {
  std::string host;  // empty: every interface
  int port = 0;      // 0: any free one
};

// The error says what is wrong and what is allowed.
Result<Address> parse_address(const std::string& text);

// Whether the two exclude each other.
bool clash(const Address& a, const Address& b);

}  // namespace slackline::config
