#include "cluster/api/requirements.h"

#include <array>
#include <string_view>

#include "cluster/api/api_client.h"
#include "cluster/api/object_client.h"
#include "cluster/api/object_path.h"
#include "slackline/base/text.h"
#include "wire/kube/access_review_codec.h"

namespace slackline::cluster {
namespace {

constexpr std::string_view kJson = "application/json";
// Of deploy/policy/own-writes.yaml.
constexpr std::array kOwnPolicies = {"slackline-own-writes-of-jobs", "slackline-own-writes-of-pods",
                                     "slackline-own-writes-of-pod-status",
                                     "slackline-own-calibration-runs"};

Result<std::string> who_am_i(ObjectClient& client) {
  SLACKLINE_ASSIGN(const std::string answer,
                   client.send("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews",
                               wire::encode_self_subject_review(), std::string(kJson)));
  return wire::decode_self_subject_review(answer);
}

std::vector<wire::OwnRight> rights_for(const ActiveNeeds& needs) {
  std::vector<wire::OwnRight> rights = {
      {.verb = "patch", .group = "batch", .resource = "jobs"},
      {.verb = "patch", .resource = "pods"},
      {.verb = "patch", .resource = "pods", .subresource = "status"},
  };
  for (const char* verb : {"get", "update"})
    rights.push_back({.verb = verb,
                      .group = "coordination.k8s.io",
                      .resource = "leases",
                      .ns = needs.lease.ns,
                      .name = needs.lease.name});
  for (const char* verb : {"get", "patch"})
    rights.push_back({.verb = verb,
                      .resource = "secrets",
                      .ns = needs.key_secret.ns,
                      .name = needs.key_secret.name});
  return rights;
}

// "patch pods/status", "get secrets slackline-system/slackline-plan-key"
std::string text_of(const wire::OwnRight& right) {
  std::string text = format("{} {}", right.verb, right.resource);
  if (!right.group.empty()) text += format(".{}", right.group);
  if (!right.subresource.empty()) text += format("/{}", right.subresource);
  if (!right.name.empty()) text += format(" {}/{}", right.ns, right.name);
  return text;
}

Status add_lacking_rights(ObjectClient& client, const ActiveNeeds& needs, const std::string& who,
                          std::vector<std::string>& lacking) {
  std::vector<std::string> missing;
  for (const wire::OwnRight& right : rights_for(needs)) {
    SLACKLINE_ASSIGN(const std::string answer,
                     client.send("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
                                 wire::encode_own_access_review(right), std::string(kJson)));
    SLACKLINE_ASSIGN(const bool may, wire::decode_access_review(answer));
    if (!may) missing.push_back(text_of(right));
  }
  if (!missing.empty())
    lacking.push_back(
        format("{} may not {} (`helm upgrade`, or apply deploy/rbac)", who, join(missing, ", ")));
  return {};
}

Status add_absent_policies(ObjectClient& client, std::vector<std::string>& lacking) {
  std::vector<std::string> absent;
  for (const char* name : kOwnPolicies) {
    SLACKLINE_ASSIGN(const std::string path,
                     cluster_object_path("/apis/admissionregistration.k8s.io/v1",
                                         "validatingadmissionpolicybindings", name));
    const auto found = client.get(path);
    if (found) continue;
    if (found.error().code == ErrorCode::kNotFound)
      absent.emplace_back(name);
    else if (found.error().code == ErrorCode::kForbidden)
      absent.push_back(format("{} (it may not read it)", name));
    else
      return fail(found.error());
  }
  if (!absent.empty())
    lacking.push_back(
        format("no ValidatingAdmissionPolicyBinding {}, so that nothing holds its account to its "
               "own writes (`helm upgrade`, or apply deploy/rbac and deploy/policy)",
               join(absent, ", ")));
  return {};
}

}  // namespace

Status require_version(ApiClient& client) {
  SLACKLINE_ASSIGN(const int minor, server_minor(client));
  if (minor >= kOldestMinor) return {};
  return fail(
      ErrorCode::kInvalidArgument,
      format("the cluster is Kubernetes 1.{}; Slackline needs 1.{} or newer", minor, kOldestMinor));
}

Result<std::vector<std::string>> find_lacking(ApiClient& client, const ActiveNeeds& needs) {
  ObjectClient objects(client);
  std::vector<std::string> lacking;
  SLACKLINE_ASSIGN(const std::string who, who_am_i(objects));
  SLACKLINE_TRY(add_lacking_rights(objects, needs, who, lacking));
  if (who.starts_with("system:serviceaccount:"))
    SLACKLINE_TRY(add_absent_policies(objects, lacking));
  return lacking;
}

}  // namespace slackline::cluster
