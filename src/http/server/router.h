// Finds the handler of a method and a path.
//
// Immutable once a server uses it, hence thread-safe. Handlers run concurrently.
#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "http/server/request.h"

namespace slackline::http {

// Where a handler runs.
enum class Pool {
  kHot,  // on the listener's io thread: pure and short, because a slow one stops the whole listener
  kThreads,  // on the listener's own threads, where it may wait; 503 when too many already do
};

using Handler = std::function<Response(const Request&)>;

// A parameter of a query. What follows the name is for the description of the API.
struct Parameter {
  std::string name;
  std::string about{};
  std::string schema = R"({"type":"string"})";  // JSON
  bool required = false;
  std::string example{};  // text, as it stands in the query; empty: none
};

// What the description of the API says of a route (routes/openapi.h).
struct Operation {
  enum class Form {
    kText,    // plain text
    kJson,    // JSON alone
    kOne,     // one value: JSON, YAML or text
    kList,    // rows: CSV too
    kEvents,  // server-sent events
  };
  struct Failure {
    int status = 0;
    std::string about = "A Kubernetes Status with a stable reason";
  };

  std::string id{};       // operationId
  std::string summary{};  // a clause
  std::string answer{};   // a clause about the answer 200
  Form form = Form::kText;
  std::string schema{};  // of the answer, JSON; empty: plain text
  std::vector<Failure> failures{};
  std::vector<Parameter> parameters{};       // of a route that ignores those it does not know
  std::vector<std::string> further_media{};  // in which it may be answered too, as text
  std::string body{};  // the media types of the request's body and their schemas, JSON; empty: none
};

struct Route {
  std::string method;   // "GET", "POST", "PUT" ...; GET answers HEAD too
  std::string pattern;  // "/v1/tasks/{ns}/{name}": each {name} takes one path segment
  Handler handler;
  std::size_t max_body = 0;  // bytes; a longer body is refused with 413 before it is read
  Pool pool = Pool::kThreads;
  // For kHot: a longer body is handled as by kThreads, because reading it takes too long.
  std::size_t hot_body = std::numeric_limits<std::size_t>::max();
  // Its query parameters; others are refused with 400. nullopt: any, ignored.
  std::optional<std::vector<Parameter>> parameters = std::nullopt;
  // The query parameter that limits the answer to one namespace: NAMESPACE or NAMESPACE/NAME.
  // Empty: none does; a {ns} of the pattern does.
  std::string namespace_parameter{};
  // For the workloads of the namespace {ns}: its ServiceAccounts may, and nobody else.
  bool for_workloads = false;
  Operation operation{};
  // The first {name} of its pattern may have slashes: where no other path fits, it takes as many
  // segments as there are.
  bool takes_slashes = false;

  Pool pool_for(std::size_t body_size) const {
    return pool == Pool::kHot && body_size <= hot_body ? Pool::kHot : Pool::kThreads;
  }
};

// A guard's verdict: the answer instead of the handler's, or nothing if the request may go on.
struct GuardAnswer {
  std::optional<Response> refusal;
};

// Called once the head of a request is known, before its body is read or memory is lent to it.
struct Guard {
  // The verdict, if it needs no waiting; nothing if ask() is needed. On the io thread.
  std::function<std::optional<GuardAnswer>(const Route&, const Request&)> recall;
  // May wait. On a thread of its own.
  std::function<GuardAnswer(const Route&, const Request&)> ask;
};

// Renders the server's own refusals; the message is for people and never foreign text.
using ErrorPage = std::function<Response(int status, std::string_view message)>;

class Router {
 public:
  Router();

  // At most one route per method and pattern: a second one aborts. Fixed segments win over {names}.
  void add(Route route);
  std::vector<const Route*> routes() const;  // as added; until the next add()
  // Keeps only GET: for a listener that does not know its callers.
  void drop_writes();
  void set_error_page(ErrorPage page) { error_page_ = std::move(page); }
  // The text of a 404 about this listener, for clients that meant another one.
  void set_about(std::string about) { about_ = std::move(about); }
  void set_guard(Guard guard) { guard_ = std::move(guard); }
  bool guarded() const { return guard_.has_value(); }

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

  // The guard's verdict; without a guard, nothing is refused. recall() returns nothing if ask() is
  // needed. An exception is logged and refused with a 500 that repeats none of it.
  std::optional<GuardAnswer> recall(const Route& route, const Request& request) const;
  GuardAnswer ask(const Route& route, const Request& request) const;

  // Runs the handler after the guard has passed the request; exceptions as above.
  Response run(const Route& route, const Request& request) const;

  // All of it in one, for tests and for callers without a socket.
  Response dispatch(Request request, std::string_view target) const;

  Response error(int status, std::string_view message) const {
    return error_page_(status, message);
  }

 private:
  template <class F>
  std::invoke_result_t<F> without_exceptions(const Route& route, const F& call) const;

  struct Entry {
    Route route;
    std::vector<std::string> segments;
  };
  struct Match {
    const Entry* entry;
    std::size_t taken;  // path segments, by {names}
  };
  std::vector<Match> matches(const std::vector<std::string>& path) const;

  std::vector<Entry> entries_;
  ErrorPage error_page_;
  std::string about_;
  std::optional<Guard> guard_;
};

// "Not Found" for 404.
std::string_view reason_phrase(int status);

}  // namespace slackline::http
