// KeyStore: the Secret of the keys that our replicas share. It is installed empty; every write
// carries a precondition.
//
// Thread-safe.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "slackline/base/result.h"
#include "slackline/model/ids.h"
#include "slackline/model/mac.h"

namespace slackline::cluster {

class ApiClient;

struct StoredKeys {
  std::vector<SharedKey> keys;  // the newest first; empty: the Secret has none that can be read
  std::string resource_version;
};

class KeyStore {
 public:
  virtual ~KeyStore() = default;
  // kNotFound: there is no such Secret.
  virtual Result<StoredKeys> read() = 0;
  // kConflict: another replica was faster; read again.
  virtual Status replace(const StoredKeys& keys) = 0;
};

// `client` outlives it.
std::unique_ptr<KeyStore> make_key_store(ApiClient& client, const ObjectKey& secret);

}  // namespace slackline::cluster
