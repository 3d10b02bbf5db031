// PortraitQuery: portraits as REST shows and takes them.
//
// Thread-safe.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "control/learn/known.h"
#include "message/portrait_views.h"
#include "slackline/base/published.h"
#include "slackline/base/result.h"

namespace slackline::cluster {
class ClusterSource;
}
namespace slackline::core {
struct Advice;
}

namespace slackline::control {

class Portraits;

struct PortraitQuestion {
  std::string ns{};      // empty: of all namespaces
  std::string family{};  // as declared, or the owner of its runs; empty: all
  bool packed = false;   // with their bytes, for an import elsewhere
  std::string job{};     // of `ns`: only what is known of its family, or of the nearest one
};

class PortraitQuery {
 public:
  // `portraits` outlives it.
  explicit PortraitQuery(Portraits& portraits) : portraits_(portraits) {}
  // Where Jobs are looked up. Before the first question; both outlive it.
  void follow(const cluster::ClusterSource& source, const Published<Known>& known) {
    source_ = &source;
    known_ = &known;
  }

  // By key.
  std::vector<PortraitView> list(const PortraitQuestion& question) const;
  // The same, or of a Job: of its family, else of the nearest one, tagged so. kNotFound: there is
  // none.
  Result<std::vector<PortraitView>> find(const PortraitQuestion& question) const;
  // Packed portraits, base64, in place of what is known of their families: all or none.
  // kInvalidArgument names the first that is wrong.
  Status take(const std::vector<std::string>& packed);
  // Those that find() returns; how many they were.
  Result<std::size_t> forget(const PortraitQuestion& question);

 private:
  Result<std::vector<PortraitView>> of_job(const PortraitQuestion& question) const;

  Portraits& portraits_;
  const cluster::ClusterSource* source_ = nullptr;
  const Published<Known>* known_ = nullptr;
};

// Pure. One for each resource that the advice has something to say of.
std::vector<AdviceView> advice_views(const core::Advice& advice, const GpuType& gpu_type);

// Pure. `now_s`: epoch; what is frozen, and how old shortages are, depends on it.
PortraitView view_of(std::string_view key, const Portrait& portrait, double now_s);

}  // namespace slackline::control
