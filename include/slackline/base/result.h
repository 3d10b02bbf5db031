// Result<T>: a value, or an Error that says what failed and what to do about it.
//
// Recoverable failures travel as values; context is added on the way up ("reading kubeconfig:
// ..."). "This pod cannot be scheduled" is never an Error: see model/verdict.h. Impossible states
// abort.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include <tl/expected.hpp>

namespace slackline {

enum class ErrorCode {
  kInvalidArgument,  // the input is wrong; the message names the field and the remedy
  kNotFound,
  kConflict,           // a precondition (uid, resourceVersion) did not hold
  kGone,               // the history asked for is no longer kept (HTTP 410)
  kForbidden,          // not authenticated or not authorised
  kResourceExhausted,  // a limit was hit, also HTTP 429
  kUnavailable,        // the peer cannot be reached or answered 5xx; trying again may help
  kTimeout,            // no answer in time; the effect may or may not have happened
  kDataLoss,           // stored data is damaged
  kInternal,
};

std::string_view to_string(ErrorCode code);

// The meaning of an HTTP status other than success, as Kubernetes uses it; an unknown one is
// kUnavailable.
ErrorCode error_of_http_status(int status);

struct Error {
  ErrorCode code = ErrorCode::kInternal;
  std::string message;

  // "context: message"
  Error with_context(std::string_view context) const {
    return Error{code, std::string(context) + ": " + message};
  }
};

template <class T>
class [[nodiscard]] Result : public tl::expected<T, Error> {
 public:
  using tl::expected<T, Error>::expected;
  Result(tl::unexpected<Error> error) : tl::expected<T, Error>(std::move(error)) {}
};

using Status = Result<void>;

inline tl::unexpected<Error> fail(ErrorCode code, std::string message) {
  return tl::unexpected<Error>(Error{code, std::move(message)});
}

inline tl::unexpected<Error> fail(Error error) {
  return tl::unexpected<Error>(std::move(error));
}

}  // namespace slackline

#define SLACKLINE_CONCAT_INNER(a, b) a##b
#define SLACKLINE_CONCAT(a, b) SLACKLINE_CONCAT_INNER(a, b)

// SLACKLINE_TRY(status_expression): returns its error from the enclosing function.
#define SLACKLINE_TRY(expression)                                    \
  do {                                                               \
    if (auto slackline_status = (expression); !slackline_status)     \
      return ::slackline::fail(std::move(slackline_status).error()); \
  } while (false)

// SLACKLINE_ASSIGN(auto x, result_expression): binds the value or returns the error.
#define SLACKLINE_ASSIGN(lhs, expression)                                                       \
  auto SLACKLINE_CONCAT(slackline_result_, __LINE__) = (expression);                            \
  if (!SLACKLINE_CONCAT(slackline_result_, __LINE__))                                           \
    return ::slackline::fail(std::move(SLACKLINE_CONCAT(slackline_result_, __LINE__)).error()); \
  lhs = std::move(*SLACKLINE_CONCAT(slackline_result_, __LINE__))
