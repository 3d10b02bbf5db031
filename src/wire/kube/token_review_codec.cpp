#include "wire/kube/token_review_codec.h"

#include <algorithm>

#include "slackline/base/base64.h"
#include "wire/format/json_writer.h"

namespace slackline::wire {
namespace {

bool holds(JsonView audiences, std::string_view audience) {
  if (audiences.is_string()) return audiences.text() == audience;
  for (const JsonView each : audiences.items())
    if (each.text() == audience) return true;
  return false;
}

constexpr std::size_t kMaxGroups = 1024;

std::vector<std::string> read_list(JsonView list) {
  std::vector<std::string> out;
  for (const JsonView item : list.items())
    if (item.is_string() && out.size() < kMaxGroups) out.emplace_back(item.text());
  return out;
}

}  // namespace

std::string encode_token_review(std::string_view token, std::string_view audience) {
  JsonWriter out(2048);
  out.begin_object().field("apiVersion", "authentication.k8s.io/v1").field("kind", "TokenReview");
  out.key("spec").begin_object().field("token", token);
  if (!audience.empty()) out.key("audiences").begin_array().string(audience).end_array();
  out.end_object().end_object();
  return out.take();
}

Result<std::optional<Requester>> decode_token_review(std::string_view json,
                                                     std::string_view audience) {
  JsonDocument document;
  SLACKLINE_ASSIGN(const JsonView root, document.parse(json));
  const JsonView status = root["status"];
  if (!status.is_object())
    return fail(ErrorCode::kUnavailable, "the answer is not a TokenReview: status is missing");
  const bool for_us = audience.empty() || holds(status["audiences"], audience);
  if (!status["authenticated"].is_true() || !for_us) return std::optional<Requester>();
  return std::optional(read_requester(status["user"]));
}

bool names_audience(std::string_view token, std::string_view audience) {
  const std::size_t begin = token.find('.');
  if (begin == std::string_view::npos) return false;
  const std::size_t end = token.find('.', begin + 1);
  std::string claims(
      token.substr(begin + 1, end == std::string_view::npos ? end : end - begin - 1));
  std::replace(claims.begin(), claims.end(), '-', '+');
  std::replace(claims.begin(), claims.end(), '_', '/');
  const auto json = decode_base64(claims);
  if (!json) return false;
  JsonDocument document;
  const auto root = document.parse(*json);
  return root && root->is_object() && holds((*root)["aud"], audience);
}

Requester read_requester(JsonView user_info) {
  Requester user;
  user.name = std::string(user_info["username"].text());
  user.uid = std::string(user_info["uid"].text());
  user.groups = read_list(user_info["groups"]);
  for (const auto& [key, values] : user_info["extra"].fields())
    if (user.extra.size() < kMaxGroups) user.extra.emplace_back(key, read_list(values));
  std::sort(user.extra.begin(), user.extra.end());
  return user;
}

}  // namespace slackline::wire
