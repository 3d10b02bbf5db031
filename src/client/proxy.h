// The environment's HTTP proxy for an address: HTTP_PROXY, HTTPS_PROXY, NO_PROXY, in lower case or
// upper, as curl and kubectl read them.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "client/address.h"
#include "slackline/base/result.h"

namespace slackline::client {

struct Proxy {
  std::string host;
  int port = 0;
  std::string user;
  std::string password;
};

// The value of an environment variable; empty if it is not set.
using Environment = std::function<std::string(const char*)>;

// nullopt: none. Requests to this machine never use a proxy. NO_PROXY lists names with what ends in
// them, addresses, ranges of addresses (10.0.0.0/8), each with a port or without, or is "*".
// kInvalidArgument: a proxy of another kind than http://HOST:PORT.
Result<std::optional<Proxy>> proxy_for(const Address& address, const Environment& environment);

}  // namespace slackline::client
