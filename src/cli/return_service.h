// ReturnService: what `serve` runs outside of active mode: it reports the tasks that active mode
// has left, and returns them where it is asked to (control/plan/give_back.h). Wiring
// only.
#pragma once

#include <memory>
#include <string>

#include "cluster/lease/lease_watch.h"
#include "cluster/watch/source.h"
#include "config/configuration.h"
#include "control/plan/actuator.h"
#include "control/plan/give_back.h"

namespace slackline::cli {

class ReturnService {
 public:
  // Null in active mode. All references outlive it.
  static std::unique_ptr<ReturnService> make(const config::Configuration& configuration,
                                             cluster::ApiClient& api,
                                             const cluster::ClusterSource& source,
                                             cluster::ClusterWriter& writer,
                                             Published<control::PlannerView>& view,
                                             obs::MetricsRegistry& metrics);

  void start();
  // Finishes what is under way.
  void stop();
  // What waits while nobody leads.
  std::string status() const { return return_->status(); }

 private:
  ReturnService() = default;

  std::unique_ptr<cluster::LeaseWatch> lease_;
  std::unique_ptr<control::Actuator> actuator_;  // null: nothing is given back
  std::unique_ptr<control::GiveBack> return_;
};

}  // namespace slackline::cli
