#include "cli/daemon.h"

#include <chrono>
#include <utility>
#include <vector>

#include "cli/version.h"
#include "cluster/file_source.h"
#include "cluster/kube_source.h"
#include "cluster/kube_writer.h"
#include "config/profiles.h"
#include "control/query/health.h"
#include "control/query/queries.h"
#include "control/serve/decision_log.h"
#include "control/serve/extender.h"
#include "http/api_routes.h"
#include "http/extender_routes.h"
#include "http/health_routes.h"
#include "http/server.h"
#include "obs/log.h"
#include "obs/metrics.h"
#include "slackline/base/text.h"
#include "store/journal.h"

namespace slackline::cli {

// Members are declared in the order they are made and destroyed in the reverse of it.
struct Daemon::Parts {
  config::Configuration configuration;
  obs::MetricsRegistry metrics;
  control::DecisionOptions decisions;
  std::unique_ptr<store::Journal> journal;
  std::unique_ptr<control::DecisionLog> log;
  std::unique_ptr<cluster::ClusterSource> source;
  std::unique_ptr<cluster::ClusterWriter> writer;
  std::unique_ptr<control::Extender> extender;
  std::unique_ptr<control::Queries> queries;
  std::unique_ptr<control::Health> health;
  http::Router extender_router;
  http::Router api_router;
  http::Router metrics_router;
  std::unique_ptr<http::Server> server;
};

namespace {

http::Listener listener(std::string name, const config::ListenerSettings& settings,
                        const http::Router& router) {
  http::Listener out;
  out.name = std::move(name);
  out.address = settings.address;
  out.router = &router;
  if (settings.tls)
    out.tls = http::TlsOptions{settings.tls->cert_file, settings.tls->key_file,
                               settings.tls->client_ca_file};
  return out;
}

}  // namespace

struct Assembly {
  Daemon::Parts& parts;

  Status open_history() {
    store::JournalOptions options;
    options.path = parts.configuration.store.path;
    options.keep_rows = parts.configuration.store.keep_rows;
    auto journal = store::Journal::open(options);
    if (!journal) return fail(journal.error().with_context("store " + options.path));
    parts.journal = std::move(*journal);
    const std::string& moved = parts.journal->stats().recovered_from;
    if (!moved.empty()) obs::log_error("journal_was_damaged", {{"moved_to", moved}});
    parts.log = std::make_unique<control::DecisionLog>(parts.journal.get(), parts.metrics);
    return {};
  }

  Status connect_cluster() {
    const config::ClusterSettings& settings = parts.configuration.cluster;
    if (!settings.dump_file.empty()) {
      parts.source =
          cluster::make_file_source({.path = settings.dump_file}, parts.decisions.catalog,
                                    parts.metrics, parts.log.get());
      return parts.source->start();
    }
    cluster::KubeOptions options;
    options.access.kubeconfig = settings.kubeconfig;
    options.stale_after_s = settings.stale_after_s;
    options.audit_every_s = settings.audit_interval_s;
    SLACKLINE_ASSIGN(parts.writer,
                     cluster::make_kube_writer(options.access, parts.decisions.catalog));
    SLACKLINE_ASSIGN(parts.source,
                     cluster::make_kube_source(options, parts.decisions.catalog, parts.metrics,
                                               parts.log.get()));
    return parts.source->start();
  }

  void lay_routes() {
    parts.extender = std::make_unique<control::Extender>(
        parts.decisions, *parts.source, parts.writer.get(), *parts.log, system_clock());
    parts.queries = std::make_unique<control::Queries>(parts.decisions, *parts.source,
                                                       parts.journal.get(), system_clock(), kVersion);
    parts.health = std::make_unique<control::Health>(*parts.source);
    http::add_extender_routes(parts.extender_router, *parts.extender, parts.decisions.catalog,
                              parts.metrics);
    http::add_api_routes(parts.api_router, *parts.queries);
    const auto refresh = [log = parts.log.get()] { log->refresh_metrics(); };
    http::add_health_routes(parts.api_router, *parts.health, parts.metrics, refresh);
    http::add_health_routes(parts.metrics_router, *parts.health, parts.metrics, refresh);
  }

  Status open_doors() {
    const config::ListenersSettings& settings = parts.configuration.listeners;
    std::vector<http::Listener> listeners = {
        listener("extender", settings.extender, parts.extender_router),
        listener("api", settings.api, parts.api_router),
        listener("metrics", settings.metrics, parts.metrics_router)};
    listeners[1].known_peers_only = true;
    listeners[2].plain_anywhere = true;
    parts.server = std::make_unique<http::Server>(parts.metrics);
    SLACKLINE_TRY(parts.server->start(listeners));
    obs::log_info("serving", {{"version", std::string_view(kVersion)},
                              {"mode", to_string(parts.decisions.mode)},
                              {"extender", settings.extender.address},
                              {"api", settings.api.address},
                              {"metrics", settings.metrics.address}});
    return {};
  }
};

Daemon::Daemon(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Daemon::~Daemon() = default;

Result<std::unique_ptr<Daemon>> Daemon::start(const config::Configuration& configuration) {
  auto parts = std::make_unique<Parts>();
  parts->configuration = configuration;
  parts->decisions.mode = configuration.mode;
  parts->decisions.catalog = configuration.gpus;
  parts->decisions.theta = configuration.scoring.theta;
  SLACKLINE_ASSIGN(parts->decisions.profiles, config::load_profiles(configuration.profiles));
  Assembly assembly{*parts};
  SLACKLINE_TRY(assembly.open_history());
  SLACKLINE_TRY(assembly.connect_cluster());
  assembly.lay_routes();
  SLACKLINE_TRY(assembly.open_doors());
  return std::unique_ptr<Daemon>(new Daemon(std::move(parts)));
}

void Daemon::stop(double grace_s) {
  using std::chrono::milliseconds;
  parts_->health->begin_shutdown();
  parts_->server->stop(milliseconds(static_cast<std::int64_t>(grace_s * 1000)));
  parts_->server->join();
  parts_->source->stop();
  parts_->source->join();
  const bool flushed = parts_->journal->flush(5.0);
  obs::log_info("stopped", {{"journal_flushed", flushed}});
}

}  // namespace slackline::cli
