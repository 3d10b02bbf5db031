// Client: the requests of the command line to a running daemon (cpp-httplib behind it).
//
// Blocking, one call at a time; not thread-safe. The connection is kept: calls that follow each
// other reach the same replica. An answer other than 2xx is an Error that carries the daemon's own
// message; if nobody answers, the error says why. A token is sent to a server whose certificate was
// verified, and over plain HTTP to this machine only. Proxies are those of the environment.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "slackline/base/result.h"

namespace slackline::client {

// A part of a list.
struct Page {
  std::string body;
  std::string next;  // what `continue=` is to be for the next part; empty: this was the last
};

// A request: path and query as the daemon gets them.
struct Asked {
  std::string_view method;
  std::string_view target;
  std::string_view accept;
  std::string_view body;
};

// Another way to the daemon than a URL. Its Error says what the daemon or what stands between said.
using Way = std::function<Result<Page>(const Asked&)>;

inline constexpr const char* kContinueHeader = "Slackline-Continue";

struct ClientOptions {
  std::string url;          // "http://127.0.0.1:8180" or https://..., with or without a path prefix
  std::string ca_file{};    // for https; empty = the system's CAs
  std::string cert_file{};  // client certificate, with key_file
  std::string key_file{};
  std::string token{};  // bearer token; empty = none
  double timeout_s = 10;
  bool in_a_hurry = false;  // a credential plug-in has no time of its own before a request's
  Way way{};                // where there is one, it is used, and nothing above is
};

class Client {
 public:
  explicit Client(ClientOptions options);
  ~Client();
  Client(Client&&) noexcept;
  Client& operator=(Client&&) noexcept;

  // `accept`: "text/plain" for the table, "application/json".
  Result<std::string> get(const std::string& path, const std::string& accept);
  Result<Page> get_page(const std::string& path, const std::string& accept);
  Result<std::string> remove(const std::string& path);  // DELETE
  Result<std::string> post_json(const std::string& path, const std::string& body);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Whether requests to this URL can be read on the network: http:// to another host than this one.
bool is_open_to_the_network(std::string_view url);

// Percent-encodes a query value.
std::string encode_query(std::string_view value);

}  // namespace slackline::client
