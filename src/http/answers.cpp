#include "http/answers.h"

#include "wire/status_codec.h"

namespace slackline::http {

Response failure(const Error& error) {
  struct Answer {
    int status;
    std::string_view reason;
  };
  const Answer answer = error.code == ErrorCode::kNotFound          ? Answer{404, "NotFound"}
                        : error.code == ErrorCode::kInvalidArgument ? Answer{400, "BadRequest"}
                        : error.code == ErrorCode::kUnavailable ? Answer{503, "ServiceUnavailable"}
                                                                : Answer{500, "InternalError"};
  Response response;
  response.status = answer.status;
  response.body = wire::encode_status_error(answer.status, answer.reason, error.message);
  return response;
}

bool wants_text(const Request& request) {
  return request.accept.find("text/plain") != std::string_view::npos &&
         request.accept.find("application/json") == std::string_view::npos;
}

Response json(std::string body) {
  Response response;
  response.body = std::move(body);
  return response;
}

Response text(std::string body) {
  Response response;
  response.content_type = "text/plain; charset=utf-8";
  response.body = std::move(body);
  return response;
}

Result<std::int64_t> number(const Request& request, std::string_view name, std::int64_t otherwise,
                            std::int64_t low, std::int64_t high) {
  const auto at = request.query.find(name);
  if (at == request.query.end()) return otherwise;
  const auto value = parse_int(at->second);
  if (value && *value >= low && *value <= high) return *value;
  return fail(ErrorCode::kInvalidArgument, format("{}=\"{}\": expected a number from {} to {}",
                                                  name, printable(at->second, 64), low, high));
}

Result<Page> page_of(const Request& request) {
  SLACKLINE_ASSIGN(const std::int64_t limit, number(request, "limit", kDefaultLimit, 1, kMaxLimit));
  SLACKLINE_ASSIGN(const std::int64_t offset,
                   number(request, "continue", 0, 0, std::int64_t{1} << 40));
  return Page{static_cast<std::size_t>(offset), static_cast<std::size_t>(limit)};
}

}  // namespace slackline::http
