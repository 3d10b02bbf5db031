// Which handler answers a method and a path.
//
// Immutable once a server uses it, hence thread-safe. Handlers run concurrently.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http/request.h"

namespace slackline::http {

// Where a handler runs.
enum class Pool {
  kHot,  // on the io thread itself: pure and short. A slow one stops everybody (filter, prioritize)
  kBind,  // may block on the API server; a thread for each, up to a limit
  kApi,   // two threads and a short queue; 503 when it is full (REST, metrics)
};

using Handler = std::function<Response(const Request&)>;

struct Route {
  std::string method;   // "GET", "POST", "PUT" ...; GET answers HEAD too
  std::string pattern;  // "/v1/tasks/{ns}/{name}": each {name} takes exactly one path segment
  Handler handler;
  std::size_t max_body = 0;  // bytes; a longer body is refused with 413 before it is read
  Pool pool = Pool::kApi;
};

// Asked before a handler runs, on the same thread; what it returns is the answer instead.
using Guard = std::function<std::optional<Response>(const Route&, const Request&)>;

// Renders what the server itself refuses; the message is for people and never foreign text.
using ErrorPage = std::function<Response(int status, std::string_view message)>;

class Router {
 public:
  Router();

  // At most one route per method and pattern: a second one aborts. Fixed segments win over {names}.
  void add(Route route);
  void set_error_page(ErrorPage page) { error_page_ = std::move(page); }
  void set_guard(Guard guard) { guard_ = std::move(guard); }
  bool guarded() const { return guard_ != nullptr; }

  // The answer to method and target alone: a route, or the response that refuses.
  struct Resolution {
    const Route* route = nullptr;
    Parameters params;
    Parameters query;
    std::string_view path;
    Response refusal;  // where route is null: 400, 404, or 405 with Allow
  };
  // target: the origin form of the request line ("/v1/tasks?limit=10"), undecoded.
  Resolution resolve(std::string_view method, std::string_view target) const;

  // Asks the guard and runs the handler; an exception is logged and answered with a 500 that
  // repeats none of it.
  Response run(const Route& route, const Request& request) const;

  // resolve() and run() in one, for tests and for callers without a socket.
  Response dispatch(Request request, std::string_view target) const;

  Response error(int status, std::string_view message) const {
    return error_page_(status, message);
  }

 private:
  struct Entry {
    Route route;
    std::vector<std::string> segments;
  };
  std::vector<Entry> entries_;
  ErrorPage error_page_;
  Guard guard_;  // may be empty
};

// "Not Found" for 404.
std::string_view reason_phrase(int status);

}  // namespace slackline::http
