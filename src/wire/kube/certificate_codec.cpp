#include "wire/kube/certificate_codec.h"

#include <initializer_list>

#include "slackline/base/base64.h"
#include "slackline/base/text.h"
#include "wire/format/json_view.h"
#include "wire/format/json_writer.h"

namespace slackline::wire {
namespace {

struct Member {
  std::string_view name;
  const std::string& text;
};

std::string encode_secret_patch(const std::string& resource_version,
                                std::initializer_list<Member> members) {
  JsonWriter out(8192);
  out.begin_object();
  out.key("metadata").begin_object().field("resourceVersion", resource_version).end_object();
  out.key("data").begin_object();
  for (const Member& member : members)
    out.field(member.name, encode_base64(member.text));
  out.end_object().end_object();
  return out.take();
}

Result<std::string> version_of(const JsonView& secret) {
  std::string version(secret["metadata"]["resourceVersion"].text());
  if (version.empty())
    return fail(ErrorCode::kInvalidArgument,
                "the answer is not a Secret: metadata.resourceVersion is missing");
  return version;
}

std::string member(const JsonView& secret, std::string_view name) {
  return decode_base64(secret["data"][name].text()).value_or("");
}

}  // namespace

std::string encode_certificate_patch(const CertificateSecretDto& secret) {
  return encode_secret_patch(
      secret.resource_version,
      {{"ca.crt", secret.authorities}, {"tls.crt", secret.certificate}, {"tls.key", secret.key}});
}

Result<CertificateSecretDto> decode_certificate_secret(std::string_view json) {
  JsonDocument document;
  SLACKLINE_ASSIGN(const JsonView root, document.parse(json));
  CertificateSecretDto secret;
  SLACKLINE_ASSIGN(secret.resource_version, version_of(root));
  secret.authorities = member(root, "ca.crt");
  secret.certificate = member(root, "tls.crt");
  secret.key = member(root, "tls.key");
  return secret;
}

std::string encode_mutual_patch(const MutualSecretDto& secret) {
  const MutualCertificates& all = secret.certificates;
  return encode_secret_patch(secret.resource_version, {{"ca.crt", all.authority.certificates},
                                                       {"ca.key", all.authority.key},
                                                       {"cross.crt", all.authority.cross},
                                                       {"tls.crt", all.server.chain},
                                                       {"tls.key", all.server.key},
                                                       {"client.crt", all.client.chain},
                                                       {"client.key", all.client.key}});
}

Result<MutualSecretDto> decode_mutual_secret(std::string_view json) {
  JsonDocument document;
  SLACKLINE_ASSIGN(const JsonView root, document.parse(json));
  MutualSecretDto secret;
  SLACKLINE_ASSIGN(secret.resource_version, version_of(root));
  secret.certificates.authority = {member(root, "ca.crt"), member(root, "ca.key"),
                                   member(root, "cross.crt")};
  secret.certificates.server = {member(root, "tls.crt"), member(root, "tls.key")};
  secret.certificates.client = {member(root, "client.crt"), member(root, "client.key")};
  return secret;
}

Result<std::string> encode_ca_bundle_patch(std::string_view configuration_json,
                                           std::string_view authorities_pem) {
  JsonDocument document;
  SLACKLINE_ASSIGN(const JsonView root, document.parse(configuration_json));
  const std::string bundle = encode_base64(authorities_pem);
  JsonWriter out;
  out.begin_array();
  bool any = false;
  std::size_t index = 0;
  for (const JsonView webhook : root["webhooks"].items()) {
    const std::string path = format("/webhooks/{}", index++);
    if (webhook["clientConfig"]["caBundle"].text() == bundle) continue;
    any = true;
    out.begin_object().field("op", "test").field("path", path + "/name");
    out.field("value", webhook["name"].text()).end_object();
    out.begin_object().field("op", "add").field("path", path + "/clientConfig/caBundle");
    out.field("value", bundle).end_object();
  }
  out.end_array();
  return any ? out.take() : std::string();
}

Result<std::string> encode_trust_patch(std::string_view config_map_json,
                                       std::string_view authorities_pem) {
  JsonDocument document;
  SLACKLINE_ASSIGN(const JsonView root, document.parse(config_map_json));
  if (root["data"]["ca.crt"].text() == authorities_pem) return std::string();
  JsonWriter out;
  out.begin_object().key("data").begin_object().field("ca.crt", authorities_pem);
  out.end_object().end_object();
  return out.take();
}

Result<std::string> encode_client_patch(std::string_view secret_json, const CertifiedKey& client) {
  JsonDocument document;
  SLACKLINE_ASSIGN(const JsonView root, document.parse(secret_json));
  if (member(root, "tls.crt") == client.chain && member(root, "tls.key") == client.key)
    return std::string();
  JsonWriter out;
  out.begin_object().key("data").begin_object();
  out.field("tls.crt", encode_base64(client.chain));
  out.field("tls.key", encode_base64(client.key));
  out.end_object().end_object();
  return out.take();
}

}  // namespace slackline::wire
