// Viewer: what the one who asks may see, and may use.
//
// Its functions may wait for the API server: they are called on no lock.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace slackline::control {

class Viewer {
 public:
  using MayView = std::function<bool(const std::string& ns)>;

  // Everything: who reaches a listener without a guard is trusted.
  Viewer() = default;
  // `may_view` with an empty namespace: all of them. Asked once for each.
  explicit Viewer(MayView may_view, std::function<bool(const std::string& ns)> may_be_urgent)
      : may_view_(std::move(may_view)), may_be_urgent_(std::move(may_be_urgent)) {}

  bool sees(const std::string& ns) {
    if (!may_view_) return true;
    if (!all_) all_ = may_view_("");
    if (*all_) return true;
    const auto known = seen_.find(ns);
    if (known != seen_.end()) return known->second;
    if (seen_.size() >= kMostAsked) return false;
    return seen_[ns] = may_view_(ns);
  }
  // Whether the class is theirs to use; nobody is asked where there is no guard.
  bool may_be_urgent(const std::string& ns) const { return may_be_urgent_ && may_be_urgent_(ns); }

 private:
  static constexpr std::size_t kMostAsked = 50;  // namespaces beyond them are not seen

  MayView may_view_;
  std::function<bool(const std::string& ns)> may_be_urgent_;
  std::optional<bool> all_;
  std::map<std::string, bool> seen_;
};

}  // namespace slackline::control
