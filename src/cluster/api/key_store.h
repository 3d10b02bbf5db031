// KeyStore: the Secret of the keys that our replicas share. Every write carries a precondition.
//
// Thread-safe.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "slackline/base/result.h"
#include "slackline/model/ids.h"
#include "slackline/model/shared_key.h"

namespace slackline::cluster {

class ApiClient;

struct StoredKeys {
  std::vector<SharedKey> keys;  // the newest first; empty: the Secret has none that can be read
  std::string resource_version;
};

class KeyStore {
 public:
  virtual ~KeyStore() = default;
  // nullopt: there is no Secret yet.
  virtual Result<std::optional<StoredKeys>> read() = 0;
  // kConflict: another replica was faster; read again.
  virtual Status create(const std::vector<SharedKey>& keys) = 0;
  virtual Status replace(const StoredKeys& keys) = 0;
};

// `client` outlives it.
std::unique_ptr<KeyStore> make_key_store(ApiClient& client, ObjectKey secret);

}  // namespace slackline::cluster
