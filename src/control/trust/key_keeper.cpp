#include "control/trust/key_keeper.h"

#include <algorithm>
#include <utility>

#include "control/trust/shared_secret.h"
#include "obs/log.h"

namespace slackline::control {

double key_lead_s(double life_s) {
  return 5 * look_every_s(life_s);
}

KeyKeeper::KeyKeeper(KeyOptions options, cluster::KeyStore& store, const Clock& clock)
    : options_(std::move(options)), store_(store), clock_(clock) {}

void KeyKeeper::start() {
  worker_.start([this] {
    while (worker_.wait(look_every_s(options_.life_s)))
      look_and_log();
  });
}

void KeyKeeper::stop() {
  worker_.stop();
  worker_.join();
}

void KeyKeeper::look_and_log() {
  const Status looked = look();
  if (failures_.is_news(looked))
    obs::log_warning("plan_key", {{"error", looked.error().message},
                                  {"known_keys", static_cast<std::int64_t>(used_.size())},
                                  {"remedy", "is deploy/rbac applied? trying again"}});
}

Status KeyKeeper::look() {
  SLACKLINE_ASSIGN(const std::vector<SharedKey> keys, agree_on_keys());
  std::vector<std::string> ordered = in_order(keys);
  if (ordered == used_) return {};
  used_ = ordered;
  options_.use(std::move(ordered));
  return {};
}

// The keys in the Secret, after putting a new one there where it has none or the newest is due.
Result<std::vector<SharedKey>> KeyKeeper::agree_on_keys() {
  return agree([this]() -> Result<std::vector<SharedKey>> {
    auto stored = store_.read();
    // Who makes none does without: it writes nothing, and nothing was sealed.
    const bool none = !stored && stored.error().code == ErrorCode::kNotFound;
    if (none && !options_.make) return std::vector<SharedKey>();
    if (!stored) return fail(std::move(stored.error()));
    std::vector<SharedKey> keys = std::move(stored->keys);
    const double now_s = clock_.wall_s();
    // A key from the future is not due: a clock that is wrong makes one new key, not many.
    if (!keys.empty() && now_s < keys.front().made_s + options_.life_s) return keys;
    if (!options_.make) return keys;
    SLACKLINE_ASSIGN(std::string bytes, options_.make());
    keys.insert(keys.begin(), {now_s, std::move(bytes)});
    keys.resize(std::min(keys.size(), kKeptKeys + 1));
    SLACKLINE_TRY(store_.replace({keys, stored->resource_version}));
    obs::log_info("plan_key_made", {{"keys", static_cast<std::int64_t>(keys.size())}});
    return keys;
  });
}

// The newest signs once the others have had time to read it, by what we saw ourselves.
std::vector<std::string> KeyKeeper::in_order(const std::vector<SharedKey>& keys) {
  if (keys.empty()) return {};
  if (newest_ != keys.front().bytes) {
    newest_ = keys.front().bytes;
    newest_since_s_ = clock_.steady_s();
  }
  std::vector<std::string> ordered;
  for (const SharedKey& key : keys)
    ordered.push_back(key.bytes);
  const bool known_to_all = clock_.steady_s() >= newest_since_s_ + key_lead_s(options_.life_s);
  if (ordered.size() > 1 && !known_to_all) std::swap(ordered[0], ordered[1]);
  return ordered;
}

}  // namespace slackline::control
