#include "cli/give_back_service.h"

#include "cli/object_name.h"

namespace slackline::cli {

std::unique_ptr<GiveBackService> GiveBackService::make(const config::Configuration& configuration,
                                                       cluster::ApiClient& api,
                                                       const cluster::ClusterSource& source,
                                                       cluster::ClusterWriter& writer,
                                                       obs::MetricsRegistry& metrics) {
  if (configuration.mode == Mode::kActive) return {};
  std::unique_ptr<GiveBackService> service(new GiveBackService());
  GiveBackService& parts = *service;
  parts.lease_ = std::make_unique<cluster::LeaseWatch>(api, key_of(configuration.planner.lease));
  if (configuration.planner.give_back)
    parts.actuator_ = std::make_unique<control::Actuator>(writer, metrics, [] {}, system_clock());
  parts.give_back_ = std::make_unique<control::GiveBack>(source, parts.actuator_.get(),
                                                         [&parts] { return parts.lease_->look(); });
  return service;
}

void GiveBackService::start() {
  if (actuator_) actuator_->start();
  give_back_->start();
}

void GiveBackService::stop() {
  give_back_->stop();
  give_back_->join();
  if (!actuator_) return;
  actuator_->stop();
  actuator_->join();
}

}  // namespace slackline::cli
