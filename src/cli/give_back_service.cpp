#include "cli/give_back_service.h"

#include "cli/object_name.h"
#include "cluster/lease.h"

namespace slackline::cli {

std::unique_ptr<GiveBackService> GiveBackService::make(const config::Configuration& configuration,
                                                       const cluster::ClusterSource& source,
                                                       cluster::ClusterWriter& writer,
                                                       obs::MetricsRegistry& metrics) {
  if (configuration.mode == Mode::kActive) return nullptr;
  std::unique_ptr<GiveBackService> service(new GiveBackService());
  const cluster::KubeAccess access{.kubeconfig = configuration.cluster.kubeconfig};
  const ObjectKey lease = key_of(configuration.planner.lease);
  service->actuator_ = std::make_unique<control::Actuator>(writer, metrics, [] {}, system_clock());
  service->give_back_ = std::make_unique<control::GiveBack>(
      source, *service->actuator_,
      [access, lease] { return cluster::lease_age_s(access, lease, system_clock()); });
  return service;
}

void GiveBackService::start() {
  actuator_->start();
  give_back_->start();
}

void GiveBackService::stop() {
  give_back_->stop();
  give_back_->join();
  actuator_->stop();
  actuator_->join();
}

}  // namespace slackline::cli
