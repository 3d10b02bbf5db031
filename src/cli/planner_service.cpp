#include "cli/planner_service.h"

#include "cli/object_name.h"
#include "cluster/api/api_client.h"
#include "control/plan/unled.h"
#include "obs/log.h"
#include "slackline/base/text.h"

namespace slackline::cli {
namespace {

cluster::LeaseOptions lease_options(const config::PlannerSettings& planner) {
  cluster::LeaseOptions options;
  options.key = key_of(planner.lease);
  return options;
}

}  // namespace

std::unique_ptr<PlannerService> PlannerService::make(
    const config::Configuration& configuration, const Published<control::Settings>& settings,
    const Published<control::Known>& known, const Published<core::PortraitBook>& portraits,
    cluster::ApiClient& api, cluster::ClusterSource& source, cluster::ClusterWriter& writer,
    obs::MetricsRegistry& metrics, control::DecisionLog& log, const MessageAuthenticator& mac) {
  if (configuration.mode != Mode::kActive) return {};
  auto service = std::unique_ptr<PlannerService>(new PlannerService());
  PlannerService& parts = *service;
  control::PlannerOptions options;
  options.catalog = configuration.gpus;
  options.settings = &settings;
  options.portraits = &portraits;
  options.reviews = !configuration.listeners.webhook.address.empty();
  options.can_sign = [&mac] { return mac.ready(); };
  options.server_minor = [&api]() -> std::optional<int> {
    const auto minor = cluster::server_minor(api);
    if (!minor) obs::log_warning("server_version_unknown", {{"error", minor.error().message}});
    return minor ? std::optional(*minor) : std::nullopt;
  };
  const auto wake = [&parts] { parts.loop_->wake(); };
  parts.election_ =
      std::make_unique<cluster::LeaderElection>(api, lease_options(configuration.planner), wake);
  options.leader = [&parts] { return parts.election_->holder(); };
  parts.stop_store_ = cluster::make_stop_store(api, stop_book_key(configuration.planner.lease));
  parts.stops_ = std::make_unique<control::StopLedger>(*parts.stop_store_, metrics, system_clock());
  options.stops = parts.stops_.get();
  parts.actuator_ = std::make_unique<control::Actuator>(writer, metrics, wake, system_clock());
  parts.actuator_->book_stops_in(*parts.stops_);
  parts.calibrator_ = std::make_unique<control::Calibrator>(
      writer, [&parts](TaskEvent event) { return parts.actuator_->add_event(std::move(event)); },
      metrics, system_clock());
  options.calibrator = parts.calibrator_.get();
  parts.journal_ = std::make_unique<control::PlanJournal>(log, system_clock());
  parts.actuator_->on_written([&parts](const OwnWrite& write) { parts.journal_->written(write); });
  parts.planner_ = std::make_unique<control::Planner>(
      std::move(options), known, source, *parts.actuator_,
      [&parts] { return parts.election_->term(); }, metrics, system_clock());
  parts.loop_ = std::make_unique<control::PlannerLoop>(*parts.planner_, system_clock());
  source.on_publish(wake);
  return service;
}

std::optional<double> PlannerService::leads_since() const {
  const auto leading = election_->leadership();
  return leading ? std::optional(leading->since_s) : std::nullopt;
}

std::string PlannerService::unled(const ClusterSnapshot& snapshot) const {
  return election_->holder().empty() ? control::unled_text(core::held_back(snapshot)) : "";
}

void PlannerService::start() {
  actuator_->start();
  calibrator_->start();
  loop_->start();
  election_->start();
}

void PlannerService::stop() {
  loop_->stop();
  loop_->join();
  calibrator_->stop();
  calibrator_->join();
  actuator_->stop();
  actuator_->join();
  election_->stop();
  election_->join();
}

}  // namespace slackline::cli
