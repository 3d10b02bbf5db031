// AuthorityStore: the Secret that keeps the extender's authority and both ends' certificates, and
// what kube-scheduler gets of it: whom to trust, and its own certificate. All are installed empty;
// every write of our Secret carries a precondition.
//
// Thread-safe.
#pragma once

#include <memory>
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
  // What it lacks is empty. kNotFound: there is no such Secret.
  virtual Result<StoredAuthority> read() = 0;
  // kConflict: another replica was faster; read again.
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
