#include "cli/return_service.h"

#include "cli/object_name.h"

namespace slackline::cli {

std::unique_ptr<ReturnService> ReturnService::make(const config::Configuration& configuration,
                                                   cluster::ApiClient& api,
                                                   const cluster::ClusterSource& source,
                                                   cluster::ClusterWriter& writer,
                                                   Published<control::PlannerView>& view,
                                                   obs::MetricsRegistry& metrics) {
  if (configuration.mode == Mode::kActive) return {};
  std::unique_ptr<ReturnService> service(new ReturnService());
  ReturnService& parts = *service;
  parts.lease_ = std::make_unique<cluster::LeaseWatch>(api, key_of(configuration.planner.lease));
  if (configuration.planner.give_back)
    parts.actuator_ = std::make_unique<control::Actuator>(writer, metrics, [] {}, system_clock());
  parts.return_ = std::make_unique<control::GiveBack>(
      source, parts.actuator_.get(), [&parts] { return parts.lease_->look(); }, view);
  return service;
}

void ReturnService::start() {
  if (actuator_) actuator_->start();
  return_->start();
}

void ReturnService::stop() {
  return_->stop();
  return_->join();
  if (!actuator_) return;
  actuator_->stop();
  actuator_->join();
}

}  // namespace slackline::cli
