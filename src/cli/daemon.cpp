#include "cli/daemon.h"

#include <chrono>
#include <utility>
#include <vector>

#include "cli/check_cluster.h"
#include "cli/copy_service.h"
#include "cli/key_service.h"
#include "cli/listeners.h"
#include "cli/object_name.h"
#include "cli/own_authority.h"
#include "cli/planner_service.h"
#include "cli/remote_api_service.h"
#include "cli/return_service.h"
#include "cli/telemetry_service.h"
#include "cli/version.h"
#include "cli/visible/visible_service.h"
#include "cli/webhook_service.h"
#include "cluster/api/api_client.h"
#include "cluster/api/kube_writer.h"
#include "cluster/api/reviewer.h"
#include "cluster/lease/scheduler_lease.h"
#include "cluster/watch/file_source.h"
#include "cluster/watch/kube_source.h"
#include "cluster/watch/observers.h"
#include "config/files.h"
#include "control/answers/answer_query.h"
#include "control/journal/decision_log.h"
#include "control/learn/gang_runs.h"
#include "control/learn/models.h"
#include "control/learn/outcomes.h"
#include "control/learn/profiles.h"
#include "control/learn/progress_reports.h"
#include "control/learn/runs.h"
#include "control/plan/event_post.h"
#include "control/plan/plan_doubts.h"
#include "control/plan/shadow_planner.h"
#include "control/portrait/ended_runs.h"
#include "control/portrait/portrait_query.h"
#include "control/portrait/portraits.h"
#include "control/query/calibration_query.h"
#include "control/query/forecast_keeper.h"
#include "control/query/gpu_meters.h"
#include "control/query/health.h"
#include "control/query/queries.h"
#include "control/query/queue_query.h"
#include "control/query/reports.h"
#include "control/serve/extender.h"
#include "control/serve/scheduler_news.h"
#include "control/state/reloader.h"
#include "http/routes/api_guard.h"
#include "http/routes/api_routes.h"
#include "http/routes/extender_routes.h"
#include "http/routes/health_routes.h"
#include "http/routes/node_routes.h"
#include "http/routes/openapi.h"
#include "http/routes/page_routes.h"
#include "http/routes/pages.h"
#include "http/server/server.h"
#include "obs/clock_watch.h"
#include "obs/log.h"
#include "obs/metrics.h"
#include "obs/process_meters.h"
#include "slackline/base/text.h"
#include "store/journal.h"

namespace slackline::cli {

// Members are declared in the order they are made and destroyed in the reverse of it.
struct Daemon::Parts {
  config::Configuration configuration;
  obs::MetricsRegistry metrics;
  obs::ClockWatch clock_watch{metrics};
  obs::ProcessMeters process{metrics};
  control::GpuMeters gpus{metrics};
  Published<control::Settings> settings;
  control::DecisionOptions decisions;
  control::Outcomes outcomes{metrics};
  std::unique_ptr<store::Journal> journal;
  std::unique_ptr<control::DecisionLog> log;
  std::unique_ptr<control::Models> models;
  std::unique_ptr<control::Portraits> portraits;
  std::unique_ptr<control::PortraitQuery> portrait_query;
  std::unique_ptr<CopyService> copy;  // null: nothing is to be copied
  control::EndedRuns ended_runs;
  std::unique_ptr<TelemetryService> telemetry;  // null: no Prometheus is configured
  std::unique_ptr<control::Runs> runs;
  std::unique_ptr<control::GangRuns> gang_runs;
  control::PlanDoubts doubts{metrics};
  std::unique_ptr<cluster::Observers> observers;
  std::unique_ptr<cluster::ApiClient> api;  // null on a file
  std::unique_ptr<KeyService> key;          // null on a file
  std::unique_ptr<PlannerService> planner;  // null unless active; the source's thread wakes it
  std::unique_ptr<cluster::ClusterSource> source;
  std::unique_ptr<cluster::ClusterWriter> writer;
  Published<control::PlannerView> no_planner;  // the view where nobody plans
  std::unique_ptr<ReturnService> returns;      // null in active mode, and on a file
  std::unique_ptr<control::Extender> extender;
  std::unique_ptr<control::Queries> queries;
  std::unique_ptr<control::Reports> reports;
  Published<control::WrittenBook> books;
  std::unique_ptr<control::EventPost> event_post;  // null in active mode, and on a file
  std::unique_ptr<control::SchedulerNews> scheduler_news;
  std::unique_ptr<cluster::SchedulerLease> scheduler_lease;  // null: kube-scheduler runs elsewhere
  std::unique_ptr<control::ForecastKeeper> keeper;
  std::unique_ptr<control::ShadowPlanner> shadow;  // null in active mode
  std::unique_ptr<control::CalibrationQuery> calibrations;
  std::unique_ptr<control::QueueQuery> queue;
  std::unique_ptr<control::AnswerQuery> answers;
  std::unique_ptr<control::Webhook> foretelling;  // of what is not created yet
  std::unique_ptr<control::ProgressReports> progress;
  std::unique_ptr<control::Health> health;
  std::unique_ptr<cluster::ApiClient> token_api;  // asked about tokens where `api` is null
  std::unique_ptr<cluster::Reviewer> reviewer;    // both null where REST asks for no tokens
  std::unique_ptr<control::Rights> rights;
  std::unique_ptr<OwnAuthority> extender_authority;  // null: given, or none on loopback
  Published<std::string> workload_ca;                // PEM; empty until the first is known
  std::unique_ptr<WebhookService> webhook;           // these two null: no listener for it
  std::unique_ptr<RemoteApiService> remote_api;
  std::unique_ptr<VisibleService> visible;  // null: no listener for it
  http::Pages pages{system_clock()};
  http::Router extender_router;
  http::Router api_router;
  http::Router proxy_router;
  http::Router metrics_router;
  std::unique_ptr<http::Server> server;
  std::unique_ptr<control::Reloader> reloader;  // null: there is no file

  Status open_history();
  Status open_models();
  Status open_portraits();
  Status connect_cluster();
  Status follow_runs();
  std::optional<core::StockScope> stock_scope() const;
  std::function<Result<double>()> share_term() const;
  void watch_scheduler();
  bool post(TaskEvent event);
  Status lay_routes();
  void lay_api_routes(http::Router& router, const config::ListenerSettings& door);
  void settle_runs();
  void refresh_metrics();
  Status calibrate(const std::string& model);
  std::function<std::string()> unled() const;
  control::WorkloadDoor workload_door() const;
  Status guard(http::Router& router, const config::ListenerSettings& door);
  Status open_visible(std::vector<http::Listener>& listeners);
  Status open_doors();
  void follow_configuration(ConfigurationSource again);
};

namespace {

constexpr double kRestReviewTimeout_s =
    2;  // two threads serve REST: a slow API server must not hold them
constexpr std::int64_t kRoomForCopies = 1000000;  // decisions of another replica
constexpr std::size_t kReadersQueue = 64;  // who asks for lists and metrics is told soon: try again

// As ClusterSnapshot has them.
std::vector<std::string> schedulers_of(const config::Configuration& configuration) {
  std::vector<std::string> schedulers = configuration.extender.scheduler_names;
  if (!schedulers.empty()) schedulers.push_back(configuration.webhook.scheduler_name);
  return schedulers;
}

}  // namespace

Status Daemon::Parts::open_history() {
  if (configuration.store.in_memory())
    obs::log_info("store_in_memory",
                  {{"lost", "decisions, history and models, when the daemon ends"},
                   {"remedy", "--store FILE keeps them"}});
  store::JournalOptions options;
  options.path = configuration.store.path;
  options.keep_rows = configuration.store.keep_rows;
  options.keep_history_s = configuration.store.keep_history_s;
  if (!configuration.store.copy_from.url.empty()) options.first_id = kRoomForCopies;
  options.finished = [this](const FinishedTask& task) { outcomes.count(task); };
  auto opened = store::Journal::open(options);
  if (!opened) return fail(opened.error());
  journal = std::move(*opened);
  log = std::make_unique<control::DecisionLog>(journal.get(), metrics);
  return {};
}

Status Daemon::Parts::open_models() {
  SLACKLINE_ASSIGN(WorkloadProfiles base, control::load_profiles(configuration.profiles));
  control::ModelsOptions options;
  options.path = configuration.store.models_file();
  SLACKLINE_ASSIGN(models,
                   control::Models::open(options, std::move(base), metrics, system_clock()));
  runs = std::make_unique<control::Runs>(
      decisions.catalog, models->known(),
      [to = models.get()](ThroughputSample run) { to->record_run(std::move(run)); });
  runs->add_listener(outcomes);
  runs->add_listener(ended_runs);
  gang_runs = std::make_unique<control::GangRuns>(
      decisions.catalog, [this](const control::GangRun& run) { return outcomes.on_ended(run); });
  observers = std::make_unique<cluster::Observers>(
      std::vector<cluster::ClusterObserver*>{log.get(), runs.get(), gang_runs.get(), &doubts});
  return {};
}

Status Daemon::Parts::open_portraits() {
  control::PortraitOptions options;
  options.path = configuration.store.portraits_file();
  options.keep_s = configuration.store.keep_portraits_s;
  options.least_run_s = configuration.store.least_evidence_s;
  SLACKLINE_ASSIGN(portraits, control::Portraits::open(options, metrics, system_clock()));
  portrait_query = std::make_unique<control::PortraitQuery>(*portraits);
  copy = CopyService::make(configuration.store.copy_from,
                           {*portraits, *portrait_query, *journal, *models});
  decisions.portraits = &portraits->known();
  decisions.books = &books;
  ended_runs.add(
      [to = portraits.get()](const control::EndedRun& ended) { to->add_unmeasured(ended); });
  ended_runs.tell_rollbacks(
      [to = portraits.get()](const PortraitIdentity& family, const ResizeRollback& rollback) {
        to->add_rollback(family, rollback);
      });
  return {};
}

Status Daemon::Parts::connect_cluster() {
  const config::ClusterSettings& wanted = configuration.cluster;
  if (!wanted.dump_file.empty()) {
    source = cluster::make_file_source(
        {.path = wanted.dump_file, .schedulers = schedulers_of(configuration)}, decisions.catalog,
        metrics, observers.get());
    SLACKLINE_TRY(follow_runs());
    return source->start();
  }
  cluster::KubeOptions options;
  options.stale_after_s = wanted.stale_after_s;
  options.audit_every_s = wanted.audit_interval_s;
  SLACKLINE_ASSIGN(api, cluster::connect({.kubeconfig = wanted.kubeconfig}));
  SLACKLINE_TRY(check_before_start(configuration, *api));
  key = KeyService::make(configuration, *api);
  options.mac = &key->mac();
  options.keys_count_everywhere = configuration.mode == Mode::kShadow;
  options.schedulers = schedulers_of(configuration);
  writer = cluster::make_kube_writer(*api, decisions.catalog, &key->mac());
  source = cluster::make_kube_source(*api, options, decisions.catalog, metrics, observers.get());
  SLACKLINE_TRY(follow_runs());
  planner = PlannerService::make(configuration, settings, models->known(), portraits->known(), *api,
                                 *source, *writer, metrics, *log, key->mac());
  if (planner) observers->add(planner->observer());
  returns = ReturnService::make(configuration, *api, *source, *writer, no_planner, metrics);
  return source->start();
}

Status Daemon::Parts::follow_runs() {
  runs->follow(*source);
  gang_runs->follow(*source);
  runs->obey(settings);
  outcomes.follow(decisions.catalog, models->known(), *source, *journal);
  ended_runs.follow(decisions.catalog, models->known(), *source);
  portrait_query->follow(*source, models->known());
  control::UsagePasses::World world{
      .catalog = decisions.catalog, .known = models->known(), .source = *source};
  world.leads = [this] { return !planner || planner->leads_since(); };
  world.measured = [this](const Uid& run, const MeasuredUse& use) {
    if (journal) journal->measured(run, use);
  };
  world.look_back_s = configuration.telemetry.look_back_s;
  SLACKLINE_ASSIGN(telemetry, TelemetryService::make(configuration.telemetry, std::move(world),
                                                     *portraits, metrics));
  if (telemetry)
    ended_runs.add([to = telemetry.get()](const control::EndedRun& run) { to->add(run); });
  return {};
}

// Who only looks sees all GPU work of the cluster; advise mode says what active mode would do.
std::optional<core::StockScope> Daemon::Parts::stock_scope() const {
  if (planner) return std::nullopt;
  const bool only_looks =
      !configuration.cluster.dump_file.empty() || configuration.mode == Mode::kShadow;
  return only_looks ? core::StockScope::kAll : core::StockScope::kManaged;
}

bool Daemon::Parts::post(TaskEvent event) {
  if (planner) return planner->actuator().add_event(std::move(event));
  return event_post && event_post->add(std::move(event));
}

void Daemon::Parts::watch_scheduler() {
  if (!api || configuration.extender.scheduler_lease.empty()) return;
  scheduler_news = std::make_unique<control::SchedulerNews>(
      key_of(configuration.planner.lease).ns, cluster::host_name(), *source,
      [this](TaskEvent event) { return post(std::move(event)); }, metrics, system_clock());
  scheduler_lease = std::make_unique<cluster::SchedulerLease>(
      *api, key_of(configuration.extender.scheduler_lease), cluster::host_name(),
      [this] { scheduler_news->look(scheduler_lease->host_of_holder()); });
}

std::function<Result<double>()> Daemon::Parts::share_term() const {
  if (scheduler_lease) return [this] { return scheduler_lease->since(); };
  if (!planner) return nullptr;
  return [this]() -> Result<double> {
    if (const auto since_s = planner->leads_since()) return *since_s;
    return fail(ErrorCode::kUnavailable,
                format("it does not hold the Lease {}", configuration.planner.lease));
  };
}

Status Daemon::Parts::lay_routes() {
  const Published<control::Known>& known = models->known();
  if (planner) decisions.planner = &planner->view();
  if (!planner && writer)
    event_post = std::make_unique<control::EventPost>(*writer, metrics, system_clock());
  watch_scheduler();
  decisions.share_term = share_term();
  extender = std::make_unique<control::Extender>(decisions, known, *source, writer.get(), *log,
                                                 system_clock());
  queries = std::make_unique<control::Queries>(decisions, known, *source, journal.get(),
                                               system_clock(), kVersion);
  reports = std::make_unique<control::Reports>(*queries, portraits->known(), system_clock(),
                                               telemetry ? &telemetry->idle_holders() : nullptr);
  const control::PlannerOptions planning{
      .catalog = configuration.gpus,
      .settings = &settings,
      .portraits = &portraits->known(),
      .stock_waits = stock_scope(),
      .has_ended = std::bind_front(&control::Queries::has_ended, queries.get())};
  const Published<control::PlannerView>& view = planner ? planner->view() : no_planner;
  keeper = std::make_unique<control::ForecastKeeper>(
      planning, known, *source, view, books,
      [this](TaskEvent event) { return post(std::move(event)); }, metrics, system_clock());
  if (!planner)
    shadow = std::make_unique<control::ShadowPlanner>(planning, known, *source, *log, journal.get(),
                                                      metrics, system_clock());
  queue =
      std::make_unique<control::QueueQuery>(planning, known, *source, view, books, system_clock());
  calibrations = std::make_unique<control::CalibrationQuery>(
      decisions, known, *source, [this](const std::string& model) { return calibrate(model); },
      system_clock());
  answers =
      std::make_unique<control::AnswerQuery>(planning, known, *source, view, books, system_clock());
  foretelling = std::make_unique<control::Webhook>(settings, decisions, known, *source,
                                                   /*reviewer=*/nullptr, system_clock());
  progress = std::make_unique<control::ProgressReports>(*source, planner ? writer.get() : nullptr,
                                                        metrics, system_clock());
  health = std::make_unique<control::Health>(*source, *log, unled());
  health->tell_of("models-stored", models->problem());
  health->tell_of("portraits-stored", portraits->problem());
  if (telemetry) health->tell_of("usage-measured", telemetry->problem());
  const config::ListenersSettings& doors = configuration.listeners;
  http::add_extender_routes(
      extender_router, *extender, decisions.catalog, metrics,
      {.max_body = static_cast<std::size_t>(doors.extender.limits.max_body_bytes)});
  lay_api_routes(api_router, doors.api);
  http::add_health_routes(metrics_router, *health, metrics, [this] { refresh_metrics(); });
  constexpr std::string_view kRest = "REST is served by listeners.api, by default 127.0.0.1:8180";
  extender_router.set_about(format("this is the extender's listener; {}", kRest));
  metrics_router.set_about(format("this is the listener of metrics and health; {}", kRest));
  return {};
}

void Daemon::Parts::settle_runs() {
  runs->settle();
  gang_runs->settle();
}

void Daemon::Parts::refresh_metrics() {
  settle_runs();
  log->refresh_metrics();
  keeper->refresh_metrics();
  gpus.show(queries->pools());
  process.refresh();
}

// REST, of whichever listener.
void Daemon::Parts::lay_api_routes(http::Router& router, const config::ListenerSettings& door) {
  // Only who passed a guard has rights to be asked about.
  const http::ViewerOf viewer = [this, &router](const http::Request& request) {
    return router.guarded() ? http::viewer_of(*rights, request) : control::Viewer();
  };
  http::add_api_routes(router, *queries, pages, viewer);
  http::add_node_routes(router, *queries, *queue, pages);
  http::add_queue_routes(router, *queue, pages, viewer);
  http::add_answer_routes(
      router, *answers, pages, decisions.catalog, system_clock(), viewer,
      [this](const AdmissionReview& review) { return foretelling->foretell(review); });
  http::add_progress_routes(router, *progress);
  http::add_history_routes(router, *queries, system_clock(), [this] { settle_runs(); });
  http::add_model_routes(router, *queries, *models, pages,
                         static_cast<std::size_t>(door.limits.max_body_bytes));
  http::add_calibration_routes(router, *calibrations, pages);
  http::add_portrait_routes(router, *portrait_query, pages);
  http::add_report_routes(router, *reports, pages, system_clock(), [this] { settle_runs(); });
  http::add_health_routes(router, *health, metrics, [this] { refresh_metrics(); });
  http::add_event_routes(router, [this] { return queries->snapshot_version(); }, system_clock());
  http::add_openapi_route(router);
  http::add_page_routes(router);
}

Status Daemon::Parts::calibrate(const std::string& model) {
  if (!planner)
    return fail(ErrorCode::kUnavailable,
                "this daemon makes no calibration runs: mode active of a cluster does; --dry-run "
                "shows what would be run");
  if (!planner->leads_since())
    return fail(ErrorCode::kUnavailable,
                format("this replica does not lead: ask {}", planner->view().get()->leader.empty()
                                                                 ? "again once one does"
                                                                 : planner->view().get()->leader));
  planner->calibrator().ask(model);
  planner->wake();
  return {};
}

// What waits while nobody leads; a dump has no leader.
std::function<std::string()> Daemon::Parts::unled() const {
  if (planner) return [this] { return planner->unled(*source->snapshot()); };
  if (returns) return [this] { return returns->status(); };
  return {};
}

control::WorkloadDoor Daemon::Parts::workload_door() const {
  if (configuration.listeners.remote_api.address.empty()) return {};
  return {configuration.remote_api.url, &workload_ca};
}

// Off loopback whoever has no client certificate must have a token.
Status Daemon::Parts::guard(http::Router& router, const config::ListenerSettings& door) {
  if (door.tls && !door.tls->client_ca_file.empty()) return {};
  if (!rights) {
    if (!api) {
      SLACKLINE_ASSIGN(token_api,
                       cluster::connect({.kubeconfig = configuration.cluster.kubeconfig}));
    }
    reviewer = cluster::make_reviewer(api ? *api : *token_api, kRestReviewTimeout_s);
    rights = std::make_unique<control::Rights>(reviewer.get(), system_clock());
  }
  router.set_guard(http::make_api_guard(*rights));
  return {};
}

Status Daemon::Parts::open_visible(std::vector<http::Listener>& listeners) {
  if (!webhook) return {};
  SLACKLINE_ASSIGN(
      visible, VisibleService::start(configuration, api.get(), *webhook->listener().tls,
                                     [this](http::Router& router) {
                                       lay_api_routes(router, configuration.listeners.visibility);
                                       return guard(router, configuration.listeners.visibility);
                                     }));
  if (visible) listeners.push_back(visible->listener());
  return {};
}

Status Daemon::Parts::open_doors() {
  const config::ListenersSettings& doors = configuration.listeners;
  for (const config::Finding& found : config::check_key_files(configuration))
    obs::log_warning("key_file",
                     {{"key", found.path}, {"problem", found.problem}, {"remedy", found.remedy}});
  std::vector<http::Listener> listeners = {listener_of("extender", doors.extender, extender_router),
                                           listener_of("api", doors.api, api_router),
                                           listener_of("metrics", doors.metrics, metrics_router)};
  if (!listeners[0].tls && !config::is_loopback(doors.extender)) {
    SLACKLINE_ASSIGN(extender_authority, OwnAuthority::start(configuration, api.get(), metrics));
    listeners[0].tls = extender_authority->tls();
  }
  listeners[0].known_peers_only = true;
  listeners[1].known_peers_only = true;
  for (const std::size_t reader : {1U, 2U})
    listeners[reader].limits.queue = kReadersQueue;
  listeners[2].plain_anywhere = true;
  SLACKLINE_ASSIGN(webhook, WebhookService::start(
                                configuration, settings, decisions, models->known(), *source,
                                api.get(), key ? &key->mac() : nullptr, workload_door(), metrics));
  if (webhook) listeners.push_back(webhook->listener());
  SLACKLINE_ASSIGN(
      remote_api,
      RemoteApiService::start(configuration, api.get(), workload_ca, [this](http::Router& router) {
        lay_api_routes(router, configuration.listeners.remote_api);
        return guard(router, configuration.listeners.remote_api);
      }));
  if (remote_api) listeners.push_back(remote_api->listener());
  SLACKLINE_TRY(open_visible(listeners));
  if (!doors.proxy_api.address.empty()) {
    lay_api_routes(proxy_router, doors.proxy_api);
    proxy_router.drop_writes();
    listeners.push_back(listener_of("proxy-api", doors.proxy_api, proxy_router));
    listeners.back().plain_anywhere = true;
  }
  const auto named = [](const config::ListenerSettings& door) {
    return std::string_view(door.address.empty() ? "none" : door.address.c_str());
  };
  server = std::make_unique<http::Server>(metrics);
  SLACKLINE_TRY(server->start(listeners));
  obs::log_info("serving", {{"version", std::string_view(kVersion)},
                            {"mode", to_string(decisions.mode)},
                            {"extender", doors.extender.address},
                            {"api", doors.api.address},
                            {"metrics", doors.metrics.address},
                            {"webhook", named(doors.webhook)},
                            {"remote_api", named(doors.remote_api)},
                            {"proxy_api", named(doors.proxy_api)},
                            {"visibility", named(doors.visibility)}});
  return {};
}

void Daemon::Parts::follow_configuration(ConfigurationSource again) {
  if (again.file.empty()) return;
  control::ReloaderOptions options;
  options.file = std::move(again.file);
  options.started = configuration;
  options.read = std::move(again.read);
  options.changed = [this] {
    if (planner) planner->wake();
  };
  reloader =
      std::make_unique<control::Reloader>(std::move(options), settings, metrics, system_clock());
  reloader->start();
}

Daemon::Daemon(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Daemon::~Daemon() = default;

Result<std::unique_ptr<Daemon>> Daemon::start(const config::Configuration& configuration,
                                              ConfigurationSource again) {
  auto parts = std::make_unique<Parts>();
  parts->configuration = configuration;
  parts->decisions.mode = configuration.mode;
  parts->decisions.catalog = configuration.gpus;
  parts->decisions.scheduler_names = configuration.extender.scheduler_names;
  parts->decisions.verb_time_s = control::kShareOfTimeout * configuration.extender.http_timeout_s;
  SLACKLINE_ASSIGN(control::Settings settings, control::settings_of(configuration));
  parts->settings.set(std::move(settings));
  parts->decisions.settings = &parts->settings;
  parts->metrics
      .gauge("slackline_build_info",
             {{"version", kVersion}, {"mode", to_string(configuration.mode)}})
      .set(1);
  if (const std::string& dump = configuration.cluster.dump_file; !dump.empty())
    SLACKLINE_TRY(cluster::check_dump(dump));  // before files are made that nobody will need
  SLACKLINE_TRY(parts->open_history());
  SLACKLINE_TRY(parts->open_models());
  SLACKLINE_TRY(parts->open_portraits());
  SLACKLINE_TRY(parts->connect_cluster());
  SLACKLINE_TRY(parts->lay_routes());
  if (const config::ListenerSettings& door = configuration.listeners.api;
      parts->api && !config::is_loopback(door))
    SLACKLINE_TRY(parts->guard(parts->api_router, door));
  SLACKLINE_TRY(parts->open_doors());
  parts->clock_watch.start();
  if (parts->planner) parts->planner->start();
  parts->progress->start();
  if (parts->returns) parts->returns->start();
  if (parts->copy) parts->copy->start();
  if (parts->telemetry) parts->telemetry->start();
  if (parts->event_post) parts->event_post->start();
  if (parts->scheduler_lease) parts->scheduler_lease->start();
  parts->keeper->start();
  if (parts->shadow) parts->shadow->start();
  if (parts->key) parts->key->start([source = parts->source.get()] { source->keys_changed(); });
  parts->follow_configuration(std::move(again));
  return std::unique_ptr<Daemon>(new Daemon(std::move(parts)));
}

void Daemon::reload() {
  if (parts_->reloader) parts_->reloader->reload();
  parts_->source->reload();
}

void Daemon::stop(double grace_s) {
  using std::chrono::milliseconds;
  for (cluster::ApiClient* const client : {parts_->api.get(), parts_->token_api.get()})
    if (client != nullptr) client->hurry();
  if (parts_->reloader) parts_->reloader->stop();
  parts_->health->begin_shutdown();
  parts_->keeper->stop();  // at once, whatever it is counting
  if (parts_->shadow) parts_->shadow->stop();
  parts_->server->stop(milliseconds(static_cast<std::int64_t>(grace_s * 1000)));
  parts_->server->join();
  parts_->progress->stop();
  if (parts_->reloader) parts_->reloader->join();
  parts_->keeper->join();
  if (parts_->scheduler_lease) parts_->scheduler_lease->stop();
  if (parts_->scheduler_lease) parts_->scheduler_lease->join();
  if (parts_->event_post) parts_->event_post->stop();
  if (parts_->event_post) parts_->event_post->join();
  if (parts_->shadow) parts_->shadow->join();
  if (parts_->planner) parts_->planner->stop();
  if (parts_->returns) parts_->returns->stop();
  if (parts_->key) parts_->key->stop();
  if (parts_->copy) parts_->copy->stop();
  if (parts_->telemetry) parts_->telemetry->stop();
  parts_->source->stop();
  parts_->source->join();
  parts_->runs->settle();
  parts_->models->stop();
  parts_->models->join();
  parts_->portraits->stop();
  parts_->portraits->join();
  const bool flushed = parts_->journal->flush(5.0);
  obs::log_info("stopped", {{"journal_flushed", flushed}});
}

}  // namespace slackline::cli
