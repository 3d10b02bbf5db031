// CertificateStore: the Secret that keeps a listener's certificate, and the objects that tell
// others to trust it: configurations of webhooks for the API server, a ConfigMap for people. The
// Secret is installed empty; every write of it carries a precondition.
//
// Thread-safe.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "message/certificate.h"
#include "slackline/base/result.h"
#include "slackline/model/ids.h"

namespace slackline::cluster {

class ApiClient;

struct StoredCertificates {
  CertificateSet set;
  std::string resource_version;
};

class CertificateStore {
 public:
  virtual ~CertificateStore() = default;
  // What it lacks is empty. kNotFound: there is no such Secret.
  virtual Result<StoredCertificates> read() = 0;
  // kConflict: another replica was faster; read again.
  virtual Status replace(const CertificateSet& set, const std::string& resource_version) = 0;
  // Makes others trust these authorities. kNotFound: an object that is to say so is missing.
  virtual Status publish(const std::string& authorities) = 0;
};

struct CertificateStoreOptions {
  ObjectKey secret;
  // Name of our Mutating- and ValidatingWebhookConfiguration; empty: none is told.
  std::string configuration{};
  std::string api_service{};         // name of our APIService; empty: there is none
  std::optional<ObjectKey> trust{};  // the ConfigMap that gets them as ca.crt
};

// `client` outlives it.
std::unique_ptr<CertificateStore> make_certificate_store(ApiClient& client,
                                                         CertificateStoreOptions options);

}  // namespace slackline::cluster
