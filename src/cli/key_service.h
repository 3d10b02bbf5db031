// KeyService: the keys that prove what we wrote, put together: their Secret, their keeper, and the
// authenticator that planner, cluster source and webhook share. Wiring only.
#pragma once

#include <functional>
#include <memory>

#include "cluster/api/key_store.h"
#include "config/configuration.h"
#include "control/trust/key_keeper.h"
#include "http/crypto/openssl_mac.h"
#include "slackline/base/result.h"
#include "slackline/model/mac.h"

namespace slackline::cli {

class KeyService {
 public:
  // Has looked once when it returns.
  static std::unique_ptr<KeyService> make(const config::Configuration& configuration,
                                          cluster::ApiClient& api);

  const MessageAuthenticator& mac() const { return mac_; }

  // `changed` is told of other keys, on a thread of its own, until stop().
  void start(std::function<void()> changed);
  void stop();

 private:
  KeyService() = default;

  http::OpenSslMac mac_;
  std::function<void()> changed_;
  std::unique_ptr<cluster::KeyStore> store_;
  std::unique_ptr<control::KeyKeeper> keeper_;  // last: its thread ends first
};

}  // namespace slackline::cli
