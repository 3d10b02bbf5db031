#include "slackline/core/cluster/slow_nodes.h"

#include <algorithm>
#include <optional>
#include <set>
#include <vector>

namespace slackline::core {
namespace {

struct Said {
  double at_s = 0;
  ObjectKey task;  // tells equal times apart
  bool slow = false;
};

// What the present or last run of the Job says; nullopt: nothing.
std::optional<Said> last_run(const Job& job, const SpeedsByJob& running, double window_s) {
  if (!job.plan || job.suspended) return std::nullopt;
  if (!job.finished) {
    const auto speed = running.find(job.uid);
    if (speed == running.end()) return std::nullopt;
    return Said{speed->second.at_s, job.key, speed->second.slow()};
  }
  if (!job.completed_s || !job.started_s || !job.plan->predicted_s) return std::nullopt;
  const double took_s = *job.completed_s - *job.started_s;
  if (std::max(took_s, *job.plan->predicted_s) < window_s || !(took_s > 0)) return std::nullopt;
  const bool slow = took_s >= window_s && *job.plan->predicted_s / took_s < kSlowShare;
  return Said{*job.completed_s, job.key, slow};
}

bool is_slow(std::vector<Said>& said) {
  if (said.size() < kSlowRuns) return false;
  std::sort(said.begin(), said.end(), [](const Said& a, const Said& b) {
    return a.at_s != b.at_s ? a.at_s > b.at_s : a.task < b.task;
  });
  return std::all_of(said.begin(), said.begin() + kSlowRuns,
                     [](const Said& each) { return each.slow; });
}

}  // namespace

std::unordered_set<NodeName> slow_nodes(const ClusterSnapshot& snapshot, const SpeedsByJob& running,
                                        double window_s) {
  std::unordered_map<NodeName, std::vector<Said>> by_node;
  const auto say = [&](const std::vector<NodeName>& nodes, const Said& said) {
    for (const NodeName& node : std::set<NodeName>(nodes.begin(), nodes.end()))
      by_node[node].push_back(said);
  };
  for (const JobPtr& job : snapshot.jobs) {
    const auto said = last_run(*job, running, window_s);
    const bool was_slow = job->preemptions && job->preemptions->slow;
    if (was_slow && said && said->slow) continue;
    if (said) say(job->plan->nodes, *said);
    if (was_slow)
      say(job->preemptions->slow->nodes, Said{job->preemptions->slow->at_s, job->key, true});
  }
  std::unordered_set<NodeName> slow;
  for (auto& [node, said] : by_node)
    if (is_slow(said)) slow.insert(node);
  return slow;
}

}  // namespace slackline::core
