// RefusedTokens: which tokens nobody knows, remembered for a while for each peer that showed them.
//
// A peer that shows many unknown tokens makes us forget nobody else's, and once it has shown
// kMostOfOnePeer of them it is asked to wait: the API server is not asked about more. Tokens are
// kept as hashes. Thread-safe.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>

#include "slackline/base/mutex.h"

namespace slackline::control {

class RefusedTokens {
 public:
  static constexpr std::size_t kMostOfOnePeer = 16;
  static constexpr std::size_t kMostPeers = 1024;

  enum class Known { kNothing, kRefused, kTooMany };

  // What is remembered of a token.
  static std::size_t hash(const std::string& token) { return std::hash<std::string>()(token); }

  Known find(const std::string& peer, const std::string& token, double now_s) {
    MutexLock lock(mutex_);
    const auto found = peers_.find(peer);
    if (found == peers_.end()) return Known::kNothing;
    std::erase_if(found->second, [now_s](const auto& one) { return one.second <= now_s; });
    if (found->second.contains(hash(token))) return Known::kRefused;
    if (found->second.size() >= kMostOfOnePeer) return Known::kTooMany;
    if (found->second.empty()) peers_.erase(found);
    return Known::kNothing;
  }

  void keep(const std::string& peer, const std::string& token, double until_s) {
    MutexLock lock(mutex_);
    if (peers_.size() >= kMostPeers) peers_.clear();
    peers_[peer].insert_or_assign(hash(token), until_s);
  }

 private:
  Mutex mutex_;
  std::map<std::string, std::map<std::size_t, double>> peers_
      SLACKLINE_GUARDED_BY(mutex_);  // until when, by token
};

}  // namespace slackline::control
