#include "http/routes/answers.h"

#include "slackline/base/duration.h"
#include "slackline/base/text.h"
#include "wire/format/yaml_writer.h"
#include "wire/rest/status_codec.h"

namespace slackline::http {
namespace {

Response as(std::string content_type, std::string body) {
  Response response;
  response.content_type = std::move(content_type);
  response.body = std::move(body);
  return response;
}

}  // namespace

Response failure(const Error& error) {
  struct Answer {
    int status;
    std::string_view reason;
  };
  const auto answer_to = [](ErrorCode code) -> Answer {
    switch (code) {
      case ErrorCode::kNotFound:
        return {404, "NotFound"};
      case ErrorCode::kInvalidArgument:
        return {400, "BadRequest"};
      case ErrorCode::kForbidden:
        return {403, "Forbidden"};
      case ErrorCode::kGone:
        return {410, "Expired"};
      case ErrorCode::kUnavailable:
      case ErrorCode::kResourceExhausted:
        return {503, "ServiceUnavailable"};
      default:
        return {500, "InternalError"};
    }
  };
  const Answer answer = answer_to(error.code);
  Response response;
  response.status = answer.status;
  response.body = wire::encode_status_error(answer.status, answer.reason, error.message);
  return response;
}

Result<Output> output_of(const Request& request) {
  if (const auto asked = request.query.find("output"); asked != request.query.end()) {
    constexpr std::pair<std::string_view, Output> kNames[] = {
        {"json", Output::kJson}, {"table", Output::kTable}, {"wide", Output::kWide},
        {"yaml", Output::kYaml}, {"csv", Output::kCsv},     {"cells", Output::kCells}};
    for (const auto& [name, output] : kNames)
      if (asked->second == name) return output;
    return fail(ErrorCode::kInvalidArgument,
                format("output=\"{}\": expected table, wide, json, yaml, csv or cells",
                       printable(asked->second, 64)));
  }
  const auto accepts = [&](std::string_view type) {
    return request.accept.find(type) != std::string_view::npos;
  };
  if (accepts("application/json")) return Output::kJson;
  if (accepts("text/plain")) return Output::kTable;
  if (accepts("text/csv")) return Output::kCsv;
  return accepts("application/yaml") ? Output::kYaml : Output::kJson;
}

Response one(const Request& request, const std::string& json_body, const std::string& text_body) {
  const auto output = output_of(request);
  if (!output) return failure(output.error());
  if (*output == Output::kJson) return json(json_body);
  return *output == Output::kYaml ? yaml(json_body) : text(text_body);
}

Response yaml(const std::string& json_body) {
  auto body = wire::json_to_yaml(json_body);
  if (!body) return failure({ErrorCode::kInternal, body.error().message});
  return as("application/yaml; charset=utf-8", *std::move(body));
}

Response csv(std::string body) {
  return as("text/csv; charset=utf-8; header=present", std::move(body));
}

Response json(std::string body) {
  Response response;
  response.body = std::move(body);
  return response;
}

Response text(std::string body) {
  return as("text/plain; charset=utf-8", std::move(body));
}

std::string media_type(const Request& request) {
  return to_lower(trim(request.content_type.substr(0, request.content_type.find(';'))));
}

// A form, or no type at all, is what a page of any site may send without asking first.
bool is_json(const Request& request) {
  return media_type(request) == "application/json";
}

Response unsupported(std::string_view wanted) {
  Response response = json(wire::encode_status_error(
      415, "UnsupportedMediaType",
      format("the body's Content-Type must be {}; with curl: -H 'Content-Type: ...'", wanted)));
  response.status = 415;
  return response;
}

control::Arrangement arrangement_of(const Request& request) {
  return {given(request, "search"), given(request, "state"), given(request, "sort")};
}

std::string given(const Request& request, std::string_view name) {
  const auto at = request.query.find(name);
  return at == request.query.end() ? "" : at->second;
}

Result<bool> given_flag(const Request& request, std::string_view name) {
  const std::string text = given(request, name);
  if (text == "true") return true;
  if (text.empty() || text == "false") return false;
  return fail(ErrorCode::kInvalidArgument,
              format("{}=\"{}\": expected true or false", name, printable(text, 64)));
}

Result<std::optional<double>> moment(const Request& request, std::string_view name, double now_s) {
  constexpr std::size_t kDate = 10;  // "2026-11-21": its begin
  const std::string text = given(request, name);
  if (text.empty()) return std::optional<double>();
  if (const auto ago_s = parse_duration_s(text)) return std::optional(now_s - *ago_s);
  const std::string time = text.size() == kDate ? text + "T00:00:00Z" : text;
  if (const auto time_s = parse_rfc3339_s(time)) return std::optional(*time_s);
  return fail(
      ErrorCode::kInvalidArgument,
      format("{}=\"{}\": expected a duration such as 24h or 7d, a date such as 2026-11-21, or a "
             "time such as 2026-11-21T12:00:00Z",
             name, printable(text, 64)));
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

}  // namespace slackline::http
