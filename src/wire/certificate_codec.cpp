#include "wire/certificate_codec.h"

#include "slackline/base/base64.h"
#include "slackline/base/text.h"
#include "wire/json_view.h"
#include "wire/json_writer.h"

namespace slackline::wire {

std::string encode_certificate_secret(const ObjectKey& name, const CertificateSecretDto& secret) {
  JsonWriter out(8192);
  out.begin_object().field("apiVersion", "v1").field("kind", "Secret");
  out.field("type", "kubernetes.io/tls");
  out.key("metadata").begin_object().field("name", name.name).field("namespace", name.ns);
  out.key("labels").begin_object().field("app.kubernetes.io/name", "slackline").end_object();
  if (!secret.resource_version.empty()) out.field("resourceVersion", secret.resource_version);
  out.end_object();
  out.key("data").begin_object();
  out.field("ca.crt", encode_base64(secret.authorities));
  out.field("tls.crt", encode_base64(secret.certificate));
  out.field("tls.key", encode_base64(secret.key));
  out.end_object().end_object();
  return out.take();
}

Result<CertificateSecretDto> decode_certificate_secret(std::string_view json) {
  JsonDocument document;
  SLACKLINE_ASSIGN(const JsonView root, document.parse(json));
  CertificateSecretDto secret;
  secret.resource_version = std::string(root["metadata"]["resourceVersion"].text());
  if (secret.resource_version.empty())
    return fail(ErrorCode::kInvalidArgument,
                "the answer is no Secret: metadata.resourceVersion is missing");
  const auto member = [&](std::string_view name) {
    return decode_base64(root["data"][name].text()).value_or("");
  };
  secret.authorities = member("ca.crt");
  secret.certificate = member("tls.crt");
  secret.key = member("tls.key");
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

}  // namespace slackline::wire
