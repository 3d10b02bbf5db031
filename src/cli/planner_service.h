// PlannerService: what `serve` runs in active mode beside the verbs: the election, the planner and
// the writers. Wiring only.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "cluster/api/stop_store.h"
#include "cluster/lease/lease.h"
#include "cluster/watch/source.h"
#include "config/configuration.h"
#include "control/plan/actuator.h"
#include "control/plan/plan_journal.h"
#include "control/plan/planner_loop.h"
#include "control/plan/stop_ledger.h"
#include "slackline/base/published.h"
#include "slackline/model/mac.h"

namespace slackline::cli {

class PlannerService {
 public:
  // Null where the mode is not active. To be made before `source` starts;
  // all references outlive it.
  static std::unique_ptr<PlannerService> make(
      const config::Configuration& configuration, const Published<control::Settings>& settings,
      const Published<control::Known>& known, const Published<core::PortraitBook>& portraits,
      cluster::ApiClient& api, cluster::ClusterSource& source, cluster::ClusterWriter& writer,
      obs::MetricsRegistry& metrics, control::DecisionLog& log, const MessageAuthenticator& mac);

  // What the planner alone knows, and who posts Events.
  const Published<control::PlannerView>& view() const { return planner_->view(); }
  control::Actuator& actuator() { return *actuator_; }
  control::Calibrator& calibrator() { return *calibrator_; }
  cluster::ClusterObserver& observer() { return *stops_; }

  // Since when this replica leads, on the steady clock; nullopt: it does not.
  std::optional<double> leads_since() const;
  // What waits while nobody leads, for people.
  std::string unled(const ClusterSnapshot& snapshot) const;

  void start();
  // Something has changed that no watch tells.
  void wake() { loop_->wake(); }
  // Plans no more, finishes what is under way, frees the Lease.
  void stop();

 private:
  PlannerService() = default;

  std::unique_ptr<cluster::LeaderElection> election_;
  std::unique_ptr<control::PlanJournal> journal_;
  std::unique_ptr<cluster::StopStore> stop_store_;
  std::unique_ptr<control::StopLedger> stops_;
  std::unique_ptr<control::Actuator> actuator_;
  std::unique_ptr<control::Calibrator> calibrator_;
  std::unique_ptr<control::Planner> planner_;
  std::unique_ptr<control::PlannerLoop> loop_;
};

}  // namespace slackline::cli
