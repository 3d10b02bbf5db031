// EndedRuns: tells of every run of a family that is over: what a portrait learns of it without any
// measurement, and which pods it had, so that what they used can be asked for.
//
// A run is a GPU Job. After a restart, those that are still listed are told again.
//
// Thread-safe.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cluster/watch/source.h"
#include "control/learn/known.h"
#include "control/learn/outcomes.h"
#include "control/learn/runs.h"
#include "slackline/base/published.h"
#include "slackline/model/portrait.h"

namespace slackline::control {

struct EndedPod {
  std::string name;  // in the run's namespace
  NodeName node;
  std::int64_t gpus = 0;
  double started_s = 0;
  double ended_s = 0;
  bool shares_gpus = false;  // by its resource
};

struct EndedRun {
  PortraitIdentity identity;
  // Without usage, but `usage` names the task, the run, and its window.
  PortraitRun run;
  std::vector<EndedPod> pods{};  // by name; empty: nobody saw them
};

// With the parameters of its model, where they are known. Pure.
PortraitIdentity family_of(const Job& job, const Known& known);

// Pure; without those parameters.
EndedRun ended_run_of(const Job& job, const RunSeen& seen, const OutcomeFacts& facts);

class EndedRuns final : public Runs::Listener {
 public:
  using Tell = std::function<void(const EndedRun&)>;

  // Before the source starts; all outlive it.
  void follow(const GpuCatalog& catalog, const Published<Known>& known,
              const cluster::ClusterSource& source);
  // Before the source starts. `listener` must not wait.
  void add(Tell listener) { listeners_.push_back(std::move(listener)); }
  // Likewise: who is told of runs that right-sizing has taken back, more than once of each.
  using TellRollback = std::function<void(const PortraitIdentity&, const ResizeRollback&)>;
  void tell_rollbacks(TellRollback listener) { tell_rollback_ = std::move(listener); }

  void on_began(const std::string& /*queue*/, const std::string& /*qos_class*/,
                double /*waited_s*/) override {}
  bool on_ended(const Job& job, const RunSeen& seen) override;
  void on_rolled_back(const Job& job) override;

 private:
  std::vector<Tell> listeners_;
  TellRollback tell_rollback_ = [](const PortraitIdentity&, const ResizeRollback&) {};
  const GpuCatalog* catalog_ = nullptr;
  const Published<Known>* known_ = nullptr;
  const cluster::ClusterSource* source_ = nullptr;
};

}  // namespace slackline::control
