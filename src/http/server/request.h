// The input and output of a handler. Plain values: a handler is tested without a socket.
//
// Every view in a Request lives until the handler returns, on whatever thread it runs.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace slackline {
struct Requester;
}

namespace slackline::http {

// Decoded; a duplicate key was refused before.
using Parameters = std::map<std::string, std::string, std::less<>>;

struct Request {
  std::string_view method;
  std::string_view path;    // as sent, without the query
  std::string_view target;  // as sent, with it
  Parameters params;        // the {names} of the route's pattern, decoded
  Parameters query;         // decoded
  std::string_view body;
  std::string_view accept;
  std::string_view content_type;
  std::string_view authorization;
  std::string_view peer;  // the client's address, or "CN=" and its certificate's common name
  // The common name in the client's certificate, which was verified; empty without mutual TLS. It
  // is the only identity: no header is believed (F42), but those of the API server's front proxy.
  std::string_view tls_peer;
  std::string_view head;  // as sent, for field_values(); for the handler alone
  // For whom the API server's front proxy asks (routes/visible_routes.h); null on every other way.
  const Requester* caller = nullptr;
  // When it was complete, on the steady clock: it may have waited for a thread since.
  std::optional<double> received_s;
};

struct Response {
  int status = 200;
  std::string content_type = "application/json";
  std::string body;
  // Names and values with control characters are dropped. Content-Length, Content-Type and
  // Connection are the server's business.
  std::vector<std::pair<std::string, std::string>> headers;
  // Set: a stream, whose answer has no length and ends with the connection. After `body` the server
  // asks it for more every 100 ms, on the io thread, hence pure and short. Empty: nothing new;
  // nullopt: the stream ends.
  std::function<std::optional<std::string>()> follow{};
};

}  // namespace slackline::http
