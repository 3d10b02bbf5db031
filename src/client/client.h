// Client: what the command line asks of a running daemon (cpp-httplib behind it).
//
// Blocking, one call at a time; not thread-safe. An answer other than 2xx is an Error that carries
// the daemon's own message; "cannot connect" names the address and how to start a daemon. A token
// is never sent over plain HTTP, but to this machine.
#pragma once

#include <string>
#include <string_view>

#include "slackline/base/result.h"

namespace slackline::client {

struct ClientOptions {
  std::string url;        // "http://127.0.0.1:8180" or https://...
  std::string ca_file;    // for https; empty = the system's CAs
  std::string cert_file;  // client certificate, with key_file
  std::string key_file;
  std::string token;  // bearer token; empty = none
  double timeout_s = 10;
};

class Client {
 public:
  explicit Client(ClientOptions options) : options_(std::move(options)) {}

  // `accept`: "text/plain" for the table, "application/json".
  Result<std::string> get(const std::string& path, const std::string& accept) const;
  Result<std::string> remove(const std::string& path) const;  // DELETE
  Result<std::string> post_json(const std::string& path, const std::string& body) const;

 private:
  ClientOptions options_;
};

// Whether requests to this URL can be read on the network: http:// to another host than this one.
bool is_open_to_the_network(std::string_view url);

// Percent-encodes a query value.
std::string encode_query(std::string_view value);

}  // namespace slackline::client
