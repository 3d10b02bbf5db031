// GiveBackService: what `serve` runs outside of active mode: it gives back the tasks that active
// mode has left (control/plan/give_back.h). Wiring only.
#pragma once

#include <memory>

#include "cluster/source.h"
#include "config/configuration.h"
#include "control/plan/actuator.h"
#include "control/plan/give_back.h"

namespace slackline::cli {

class GiveBackService {
 public:
  // Null in active mode. All references outlive it.
  static std::unique_ptr<GiveBackService> make(const config::Configuration& configuration,
                                               const cluster::ClusterSource& source,
                                               cluster::ClusterWriter& writer,
                                               obs::MetricsRegistry& metrics);

  void start();
  // Finishes what is under way.
  void stop();

 private:
  GiveBackService() = default;

  std::unique_ptr<control::Actuator> actuator_;
  std::unique_ptr<control::GiveBack> give_back_;
};

}  // namespace slackline::cli
