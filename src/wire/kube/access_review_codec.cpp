#include "wire/kube/access_review_codec.h"

#include "slackline/base/text.h"
#include "wire/format/json_view.h"
#include "wire/format/json_writer.h"

namespace slackline::wire {
namespace {

void write_list(JsonWriter& out, const std::vector<std::string>& list) {
  out.begin_array();
  for (const std::string& item : list)
    out.string(item);
  out.end_array();
}

}  // namespace

std::string encode_access_review(const Requester& user, const ApiDemand& demand) {
  JsonWriter out(512);
  out.begin_object().field("apiVersion", "authorization.k8s.io/v1");
  out.field("kind", "SubjectAccessReview");
  out.key("spec").begin_object();
  out.key("resourceAttributes").begin_object();
  out.field("namespace", demand.ns).field("verb", demand.verb).field("group", "slackline.dev");
  out.field("resource", demand.resource).field("name", demand.name).end_object();
  out.field("user", user.name).field("uid", user.uid);
  write_list(out.key("groups"), user.groups);
  out.key("extra").begin_object();
  for (const auto& [key, values] : user.extra)
    write_list(out.key(key), values);
  out.end_object().end_object().end_object();
  return out.take();
}

std::string encode_own_access_review(const OwnRight& right) {
  JsonWriter out(256);
  out.begin_object().field("apiVersion", "authorization.k8s.io/v1");
  out.field("kind", "SelfSubjectAccessReview");
  out.key("spec").begin_object();
  out.key("resourceAttributes").begin_object();
  out.field("namespace", right.ns).field("verb", right.verb).field("group", right.group);
  out.field("resource", right.resource).field("subresource", right.subresource);
  out.field("name", right.name).end_object().end_object().end_object();
  return out.take();
}

Result<bool> decode_access_review(std::string_view json) {
  JsonDocument document;
  SLACKLINE_ASSIGN(const JsonView root, document.parse(json));
  const JsonView status = root["status"];
  if (!status.is_object())
    return fail(ErrorCode::kUnavailable,
                "the answer is not a SubjectAccessReview: status is missing");
  if (status["allowed"].is_true()) return true;
  // A denial with an error may come from a rule that could not be read: it is not an answer.
  if (const std::string_view error = status["evaluationError"].text(); !error.empty())
    return fail(ErrorCode::kUnavailable, printable(error));
  return false;
}

std::string encode_self_subject_review() {
  return R"({"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"})";
}

Result<std::string> decode_self_subject_review(std::string_view json) {
  JsonDocument document;
  SLACKLINE_ASSIGN(const JsonView root, document.parse(json));
  const std::string_view user = root["status"]["userInfo"]["username"].text();
  if (user.empty())
    return fail(ErrorCode::kUnavailable,
                "the answer is not a SelfSubjectReview: status.userInfo.username is missing");
  return printable(user);
}

}  // namespace slackline::wire
