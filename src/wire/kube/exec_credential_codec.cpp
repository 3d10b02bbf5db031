#include "wire/kube/exec_credential_codec.h"

#include <algorithm>

#include "slackline/base/base64.h"
#include "slackline/base/duration.h"
#include "slackline/base/text.h"
#include "wire/format/json_view.h"
#include "wire/format/json_writer.h"

namespace slackline::wire {
namespace {

constexpr std::string_view kKind = "ExecCredential";

tl::unexpected<Error> wrong(std::string_view what) {
  return fail(ErrorCode::kInvalidArgument, format("it did not print an ExecCredential: {}", what));
}

// The token becomes a line of a request's head.
bool is_token(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7f; });
}

}  // namespace

bool is_exec_version(std::string_view api_version) {
  return api_version == "client.authentication.k8s.io/v1" ||
         api_version == "client.authentication.k8s.io/v1beta1";
}

std::string encode_exec_info(std::string_view api_version, bool interactive,
                             const ExecCluster* cluster) {
  JsonWriter out;
  out.begin_object().field("kind", kKind).field("apiVersion", api_version);
  out.key("spec").begin_object();
  if (cluster != nullptr) {
    out.key("cluster").begin_object().field("server", cluster->server);
    if (cluster->insecure_skip_verify) out.field("insecure-skip-tls-verify", true);
    if (!cluster->ca_data.empty())
      out.field("certificate-authority-data", encode_base64(cluster->ca_data));
    if (!cluster->config.empty()) out.key("config").raw(cluster->config);
    out.end_object();
  }
  out.field("interactive", interactive).end_object().end_object();
  return out.take();
}

Result<ExecCredential> decode_exec_credential(std::string_view json, std::string_view api_version) {
  JsonDocument document;
  const auto root = document.parse(json);
  if (!root) return wrong("it is not JSON");
  if ((*root)["kind"].text() != kKind) return wrong("kind is not ExecCredential");
  if ((*root)["apiVersion"].text() != api_version)
    return wrong(format("apiVersion is not {}, as the kubeconfig says", api_version));
  const JsonView status = (*root)["status"];
  if (!status.is_object()) return wrong("status is missing");
  ExecCredential out;
  out.token = status["token"].text();
  out.certificate = status["clientCertificateData"].text();
  out.key = status["clientKeyData"].text();
  if (out.certificate.empty() != out.key.empty())
    return wrong("clientCertificateData and clientKeyData: one is given without the other");
  if (out.token.empty() && out.certificate.empty())
    return wrong("status has neither a token nor a certificate");
  if (!is_token(out.token)) return wrong("the token has characters that no token has");
  if (const JsonView expires = status["expirationTimestamp"]; expires.present()) {
    const auto at = parse_rfc3339_s(expires.text());
    if (!at) return wrong("expirationTimestamp is not an RFC 3339 time");
    out.expires_s = *at;
  }
  return out;
}

}  // namespace slackline::wire
