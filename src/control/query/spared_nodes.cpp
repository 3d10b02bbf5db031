#include "control/query/spared_nodes.h"

#include <string>
#include <string_view>
#include <unordered_map>

#include "slackline/model/spared.h"

namespace slackline::control {
namespace {

// Runs as their pods name them.
class SparedPods {
 public:
  explicit SparedPods(const std::vector<QueueRow>& rows) {
    for (const QueueRow& row : rows) {
      if (!row.plan) continue;
      if (!row.uid.empty()) by_uid_.emplace(row.uid, row.spared);
      if (!row.plan->id.empty()) by_plan_.emplace(row.key.ns + "/" + row.plan->id, row.spared);
    }
  }

  std::string_view of(const Pod& pod) const {
    if (const auto at = by_uid_.find(pod.uid); at != by_uid_.end()) return at->second;
    if (pod.plan)
      if (const auto at = by_plan_.find(pod.key.ns + "/" + pod.plan->id); at != by_plan_.end())
        return at->second;
    if (pod.owner)
      if (const auto at = by_uid_.find(pod.owner->uid); at != by_uid_.end()) return at->second;
    return to_string(pod.deleting ? Spared::kEnding : Spared::kUnplanned);
  }

 private:
  std::unordered_map<Uid, std::string_view> by_uid_;           // of the Job or the pod
  std::unordered_map<std::string, std::string_view> by_plan_;  // "namespace/plan"
};

}  // namespace

void tell_spared(const std::vector<QueueRow>& rows, std::vector<ListedNode>& nodes) {
  const SparedPods spared(rows);
  for (ListedNode& node : nodes) {
    std::unordered_map<std::string, std::string_view> by_pod;
    for (const PodPtr& pod : node.state->pods)
      if (pod->requests.wants_gpus()) by_pod.emplace(pod->key.str(), spared.of(*pod));
    for (GpuOccupantView& occupant : node.occupants)
      if (const auto at = by_pod.find(occupant.pod); at != by_pod.end())
        occupant.spared = at->second;
  }
}

}  // namespace slackline::control
