// KeyKeeper: the keys with which we prove that an annotation was written by us (model/mac.h), made
// by us and shared by all replicas.
//
// The keys lie in a Secret, which is written only with a precondition, so replicas agree. A new key
// is made when the newest one has been there for its life. It signs a little later (key_lead_s),
// when every replica has read it: what one replica signs, the others can verify. A key that signs
// no more verifies for kKeptKeys further lives; a plan or an admission that is older than that is
// no longer believed. Without an API server there is no key until the Secret can be read.
//
// Thread-safety: start() and stop() from one thread; one thread of its own between them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cluster/api/key_store.h"
#include "obs/said_once.h"
#include "slackline/base/clock.h"
#include "slackline/base/result.h"
#include "slackline/base/worker.h"

namespace slackline::control {

inline constexpr std::size_t kKeptKeys = 4;  // beside the one that signs

struct KeyOptions {
  double life_s = 90 * 86400.0;
  // The bytes of a new key. Null: this replica makes none, and takes what others have made.
  std::function<Result<std::string>()> make;
  // From now on the first one signs and all verify; told when they have changed, on its thread.
  std::function<void(std::vector<std::string>)> use;
};

// How long after it was seen first a key signs: five looks.
double key_lead_s(double life_s);

class KeyKeeper {
 public:
  // `store` and `clock` outlive it.
  KeyKeeper(KeyOptions options, cluster::KeyStore& store, const Clock& clock);

  // To be called once before start(): a first look, so that there is a key where there can be one.
  void look_and_log();
  void start();
  void stop();  // waits for a look under way

  // One look, as the thread takes it; the error is what it logs.
  Status look();

 private:
  Result<std::vector<SharedKey>> agree_on_keys();
  // In the order of use.
  std::vector<std::string> in_order(const std::vector<SharedKey>& keys);

  const KeyOptions options_;
  cluster::KeyStore& store_;
  const Clock& clock_;
  std::vector<std::string> used_;
  std::string newest_;         // of the last look
  double newest_since_s_ = 0;  // steady
  obs::SaidOnce failures_;

  Worker worker_;  // last: its thread ends first
};

}  // namespace slackline::control
