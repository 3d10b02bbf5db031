#include "wire/kube/token_review_codec.h"

#include "wire/format/json_view.h"
#include "wire/format/json_writer.h"
#include "wire/kube/requester_codec.h"

namespace slackline::wire {

std::string encode_token_review(std::string_view token) {
  JsonWriter out(2048);
  out.begin_object().field("apiVersion", "authentication.k8s.io/v1").field("kind", "TokenReview");
  out.key("spec").begin_object().field("token", token).end_object().end_object();
  return out.take();
}

Result<std::optional<Requester>> decode_token_review(std::string_view json) {
  JsonDocument document;
  SLACKLINE_ASSIGN(const JsonView root, document.parse(json));
  const JsonView status = root["status"];
  if (!status.is_object())
    return fail(ErrorCode::kUnavailable, "the answer is not a TokenReview: status is missing");
  if (!status["authenticated"].is_true()) return std::optional<Requester>();
  return std::optional(read_requester(status["user"]));
}

}  // namespace slackline::wire
