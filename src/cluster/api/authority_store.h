// AuthorityStore: the Secret that keeps the extender's authority and both ends' certificates, and
// what kube-scheduler gets of it: whom to trust, and its own certificate. Every write of our Secret
// carries a precondition.
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

struct StoredAuthority {
  MutualCertificates certificates;
  std::string resource_version;
};

class AuthorityStore {
 public:
  virtual ~AuthorityStore() = default;
  // nullopt: there is no Secret yet. What it lacks is empty.
  virtual Result<std::optional<StoredAuthority>> read() = 0;
  // kConflict: another replica was faster; read again.
  virtual Status create(const MutualCertificates& certificates) = 0;
  virtual Status replace(const MutualCertificates& certificates,
                         const std::string& resource_version) = 0;
  // Gives kube-scheduler the authorities and the client's certificate. kNotFound: an object that it
  // is to find them in is missing.
  virtual Status publish(const MutualCertificates& certificates) = 0;
};

struct AuthorityStoreOptions {
  ObjectKey secret;         // ours, with every key
  ObjectKey trust;          // ConfigMap: ca.crt, whom kube-scheduler is to trust
  ObjectKey client_secret;  // tls.crt and tls.key, what kube-scheduler shows
};

// `client` outlives it.
std::unique_ptr<AuthorityStore> make_authority_store(ApiClient& client,
                                                     AuthorityStoreOptions options);

}  // namespace slackline::cluster
