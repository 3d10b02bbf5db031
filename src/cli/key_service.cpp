#include "cli/key_service.h"

#include <utility>

#include "cli/object_name.h"
#include "slackline/base/clock.h"

namespace slackline::cli {

std::unique_ptr<KeyService> KeyService::make(const config::Configuration& configuration,
                                             cluster::ApiClient& api) {
  std::unique_ptr<KeyService> service(new KeyService());
  KeyService& parts = *service;
  parts.store_ = cluster::make_key_store(api, key_of(configuration.trust.key_secret));
  control::KeyOptions options;
  options.life_s = configuration.trust.key_life_s;
  // Who plans needs one; the other modes write nothing.
  if (configuration.mode == Mode::kActive)
    options.make = [] { return http::OpenSslMac::make_key(); };
  options.use = [&parts](std::vector<std::string> keys) {
    parts.mac_.use(std::move(keys));
    if (parts.changed_) parts.changed_();
  };
  parts.keeper_ =
      std::make_unique<control::KeyKeeper>(std::move(options), *parts.store_, system_clock());
  parts.keeper_->look_and_log();
  return service;
}

void KeyService::start(std::function<void()> changed) {
  changed_ = std::move(changed);
  keeper_->start();
}

void KeyService::stop() {
  keeper_->stop();
}

}  // namespace slackline::cli
