// The Secrets of Slackline's own certificates, and the objects that tell others to trust them: the
// caBundles of webhook configurations, the ConfigMap and the Secret that kube-scheduler reads; as
// JSON.
#pragma once

#include <string>
#include <string_view>

#include "message/certificate.h"
#include "slackline/base/result.h"

namespace slackline::wire {

// The authorities next to the pair.
struct CertificateSecretDto {
  std::string resource_version;
  std::string authorities;  // ca.crt
  std::string certificate;  // tls.crt
  std::string key;          // tls.key
};

// A merge patch that holds only for this resourceVersion.
std::string encode_certificate_patch(const CertificateSecretDto& secret);

// Members that are absent or not base64 are empty: such a Secret must be replaced.
Result<CertificateSecretDto> decode_certificate_secret(std::string_view json);

// Both ends of mutual TLS under one authority, in one Secret: ca.crt, ca.key, cross.crt, the
// server's tls.crt and tls.key, the client's client.crt and client.key.
struct MutualSecretDto {
  std::string resource_version;
  MutualCertificates certificates;
};

std::string encode_mutual_patch(const MutualSecretDto& secret);  // likewise

// As above, a member that is absent or not base64 is empty.
Result<MutualSecretDto> decode_mutual_secret(std::string_view json);

// A JSON Patch that gives every webhook of the configuration this caBundle; each change tests the
// webhook's name first. Empty if all have it already.
Result<std::string> encode_ca_bundle_patch(std::string_view configuration_json,
                                           std::string_view authorities_pem);

// A merge patch that sets ca.crt of the ConfigMap to these authorities. Empty if it has them.
Result<std::string> encode_trust_patch(std::string_view config_map_json,
                                       std::string_view authorities_pem);

// A merge patch that sets tls.crt and tls.key of a Secret to this certificate. Empty if it has it.
Result<std::string> encode_client_patch(std::string_view secret_json, const CertifiedKey& client);

}  // namespace slackline::wire
