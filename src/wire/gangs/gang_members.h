// Which pods the object of a gang's controller makes (docs/GANGS.md).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace slackline::wire {

// Pods that are made from one template.
struct GangMembers {
  std::string role;  // "Worker"; empty: the kind has none
  nlohmann::json pattern;
  std::int64_t pods = 1;
  std::vector<std::string> after{};  // these roles run before; empty: they are made first
  std::int64_t in_jobs = 0;          // these are made of so many Jobs; 0: of none
  bool job_by_job = false;           // each of these Jobs is a gang of its own
};

// Those that run at the same time; of a LeaderWorkerSet those of one group. Without those that come
// once others have ended. Empty: it is no gang of a kind that is known.
std::vector<GangMembers> gang_members_of(const nlohmann::json& object);

// The others, that come once others have ended: of a JobSet.
std::vector<GangMembers> members_after_ends_of(const nlohmann::json& object);

// By the spec of an MPIJob: its launcher is made once all workers are ready.
bool launcher_comes_last(const nlohmann::json& spec);

}  // namespace slackline::wire
