#include "config/load.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <system_error>
#include <utility>

#include "config/listen_address.h"
#include "config/load_telemetry.h"
#include "config/section.h"
#include "slackline/base/dns_name.h"
#include "slackline/base/duration.h"
#include "slackline/base/file_kind.h"
#include "slackline/base/text.h"
#include "slackline/model/object_key.h"

namespace slackline::config {
namespace {

constexpr std::size_t kMaxFileBytes = std::size_t{4} << 20;
constexpr std::string_view kDumpPrefix = "file:";
constexpr double kLeastStaleAfter_s = 90;
constexpr double kLeastSlowAfter_s = 1;
constexpr double kLeastTrialRun_s = 60;
constexpr double kLeastCertificateLife_s = 10;
constexpr double kLeastKeyLife_s = kHour_s;
constexpr std::int64_t kMostTrialIterations = 1'000'000;
constexpr std::int64_t kMostShare = 1'000'000;  // GPUs

void read_header(Section& root) {
  std::string api_version;
  std::string kind;
  root.text("apiVersion", api_version);
  root.text("kind", kind);
  if (api_version != kApiVersion)
    root.problem("apiVersion", format("is \"{}\"", printable(api_version, 64)),
                 format("it must be {}", kApiVersion));
  if (kind != kKind)
    root.problem("kind", format("is \"{}\"", printable(kind, 64)), format("it must be {}", kKind));
}

void read_resource(Section& item, std::vector<GpuResourceRule>& rules,
                   std::set<std::string>& seen) {
  GpuResourceRule rule;
  item.text("name", rule.pattern);
  item.choice<GpuSharing>("sharing", rule.sharing,
                          {{"whole", GpuSharing::kWhole},
                           {"mig", GpuSharing::kMig},
                           {"timeslice", GpuSharing::kTimeslice},
                           {"mps", GpuSharing::kMps},
                           {"vgpu", GpuSharing::kVgpu}});
  item.flag("selfAccounted", rule.self_accounted);
  if (rule.pattern.find('/') == std::string::npos)
    item.problem("name", format("is \"{}\"", printable(rule.pattern, 64)),
                 "it must be an extended resource or a glob of them, e.g. nvidia.com/gpu");
  else if (!seen.insert(rule.pattern).second)
    item.problem("name", format("{} is given twice", rule.pattern), "keep one of them");
  if (rule.self_accounted && rule.sharing == GpuSharing::kWhole)
    item.problem(
        "selfAccounted", "is true for whole GPUs",
        "kube-scheduler must count whole GPUs itself, or preemption never happens; remove it");
  rules.push_back(std::move(rule));
}

void read_type(Section& item, std::vector<GpuTypeRule>& rules, std::set<std::string>& seen) {
  GpuTypeRule rule;
  std::string name;
  item.text("name", name);
  item.texts("labelValues", rule.label_values);
  item.number("cost", rule.cost, 0, false);
  if (name.empty() || name == "any" || name.find(',') != std::string::npos)
    item.problem("name", format("is \"{}\"", printable(name, 64)),
                 "it must be the name people write in gpu-types, without commas, not \"any\"");
  else if (!seen.insert(name).second)
    item.problem("name", format("GPU type {} is given twice", printable(name, 64)),
                 "keep one of them, with the label values of both");
  rule.alias = GpuType(name);
  rules.push_back(std::move(rule));
}

void read_gpus(Section& gpus, GpuCatalog& catalog) {
  std::set<std::string> seen;
  std::vector<GpuResourceRule> resources;
  if (gpus.sections("resources", [&](Section& item) { read_resource(item, resources, seen); })) {
    if (resources.empty())
      gpus.problem("resources", "names no GPU resource", "name one, or leave the key out");
    catalog.resources = std::move(resources);
  }
  gpus.texts("typeLabels", catalog.type_labels);
  if (catalog.type_labels.empty())
    gpus.problem("typeLabels", "names no label", "name one, or leave the key out");
  seen.clear();
  std::vector<GpuTypeRule> types;
  if (gpus.sections("types", [&](Section& item) { read_type(item, types, seen); })) {
    if (types.empty()) gpus.problem("types", "names no GPU type", "name one, or leave the key out");
    catalog.types = std::move(types);
  }
}

// `own`: the listener makes its own certificate if it was given none.
void read_tls(Section& section, TlsSettings& tls, bool own = false) {
  section.text("certFile", tls.cert_file);
  section.text("keyFile", tls.key_file);
  section.text("clientCAFile", tls.client_ca_file);
  section.texts("clientNames", tls.client_names);
  if (own && tls.cert_file.empty() && tls.key_file.empty() && !tls.client_ca_file.empty()) return;
  if (tls.cert_file.empty() || tls.key_file.empty())
    section.problem("", "lacks certFile or keyFile", "TLS needs both, as PEM files");
  if (tls.client_ca_file.empty() && !tls.client_names.empty())
    section.problem("clientNames", "is given without clientCAFile",
                    "name the CA whose certificates clients must present");
}

// A caller of the extender may bind every pod: off loopback a certificate of a CA that signs for
// others too is not enough.
void check_extender_clients(Section& section, const ListenerSettings& extender) {
  if (!extender.tls || is_loopback(extender)) return;
  if (extender.tls->client_ca_file.empty())
    section.problem("tls", "lacks clientCAFile: anybody on the network could bind pods",
                    "add clientCAFile, the CA of kube-scheduler's client certificate, or leave tls "
                    "out: Slackline then makes both ends' certificates itself");
  else if (extender.tls->client_names.empty())
    section.problem("tls", "lacks clientNames: every certificate of clientCAFile could bind pods",
                    "add clientNames: the names in kube-scheduler's client certificate "
                    "(subjectAltName, or the common name if it has none)");
}

constexpr std::int64_t kKi = std::int64_t{1} << 10;
constexpr std::int64_t kMi = std::int64_t{1} << 20;
constexpr std::int64_t kMaxMemory = 65536 * kMi;

void read_limits(Section& section, ListenerLimits& limits, bool plain_reader) {
  section.integer("connections", limits.connections, 16, 16384);
  section.size("memory", limits.memory_bytes, kMi, kMaxMemory);
  section.integer("threads", limits.threads, 1, 1024);
  if (plain_reader) return;  // takes no bodies and speaks no TLS
  section.size("maxBody", limits.max_body_bytes, 64 * kKi, kMaxMemory / 2);
  section.integer("handshakesPerSecond", limits.handshakes_per_s, 1, 10000);
  if (limits.max_body_bytes > limits.memory_bytes / 2)
    section.problem("maxBody", "is more than half of memory",
                    "give the listener more memory, or lower maxBody");
}

// The extender's listener makes its own certificate if it needs one and was given none.
enum class Security { kPlain, kGivenTls, kGivenOrOwnTls };

void read_listener(Section& section, ListenerSettings& listener, Security security) {
  section.text("address", listener.address);
  section.section("limits", [&](Section& limits) {
    read_limits(limits, listener.limits, security == Security::kPlain);
  });
  if (security != Security::kPlain)
    section.section("tls", [&](Section& tls) { read_tls(tls, listener.tls.emplace()); });
  if (const auto address = parse_address(listener.address); !address)
    section.problem("address", format("is \"{}\"", printable(listener.address, 64)),
                    address.error().message);
  else if (security == Security::kGivenTls && !listener.tls && !is_loopback(listener))
    section.problem("address", format("{} is reachable from outside without TLS", listener.address),
                    "add tls with certFile and keyFile, or listen on 127.0.0.1");
}

// An optional one: without an address there is none.
void read_optional_listener(Section& section, ListenerSettings& listener, Security security) {
  const bool plain = security == Security::kPlain;
  section.text("address", listener.address);
  section.section("limits", [&](Section& limits) { read_limits(limits, listener.limits, plain); });
  if (!plain)
    section.section("tls", [&](Section& tls) { read_tls(tls, listener.tls.emplace(), true); });
  if (listener.address.empty()) return;
  if (const auto address = parse_address(listener.address); !address)
    section.problem("address", format("is \"{}\"", printable(listener.address, 64)),
                    address.error().message + "; empty for none");
}

// The defaults count, too: a moved listener may collide with one that is not.
void check_clashes(Section& section, const ListenersSettings& listeners) {
  const std::pair<std::string_view, const std::string&> all[] = {
      {"extender", listeners.extender.address},    {"api", listeners.api.address},
      {"remoteApi", listeners.remote_api.address}, {"proxyApi", listeners.proxy_api.address},
      {"metrics", listeners.metrics.address},      {"webhook", listeners.webhook.address},
      {"visibility", listeners.visibility.address}};
  for (const auto& [name, text] : all)
    for (const auto& [earlier, other] : all) {
      if (name == earlier) break;
      const auto a = parse_address(text);
      const auto b = parse_address(other);
      if (a && b && clash(*a, *b))
        section.problem(name, format("listens on {}, where {} listens ({})", text, earlier, other),
                        "give each a port of its own");
    }
}

bool is_certificate_name(std::string_view name) {
  return !name.empty() && name.size() <= 253 && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == ':' || c == '*';
  });
}

void read_optional_name(Section& section, std::string_view key, std::string& name) {
  section.text(key, name);
  if (!name.empty() && !parse_object_key(name))
    section.problem(key, format("is \"{}\"", printable(name, 64)), "it must be NAMESPACE/NAME");
}

void read_object_name(Section& section, std::string_view key, std::string& name) {
  read_optional_name(section, key, name);
  if (name.empty()) section.problem(key, "is empty", "it must be NAMESPACE/NAME");
}

void read_certificate(Section& section, CertificateSettings& certificate) {
  section.texts("names", certificate.names);
  read_object_name(section, "secret", certificate.secret);
  section.duration("life", certificate.life_s);
  if (certificate.life_s < kLeastCertificateLife_s)
    section.problem("life", format("is {}", format_duration(certificate.life_s)),
                    "it must be at least 10s, and should be days: after two thirds of it a new one "
                    "is made, which all have to read before the old one ends");
  if (certificate.names.empty())
    section.problem("names", "names nothing", "add the names by which clients call the listener");
  for (const std::string& name : certificate.names)
    if (!is_certificate_name(name))
      section.problem("names", format("has \"{}\"", printable(name, 64)),
                      "each must be a DNS name or an IP address");
}

void read_extender(Section& section, ExtenderSettings& extender) {
  section.texts("schedulerNames", extender.scheduler_names);
  section.section("certificate", [&](Section& s) { read_certificate(s, extender.certificate); });
  section.duration("authorityLife", extender.authority_life_s);
  if (extender.authority_life_s < 3 * extender.certificate.life_s)
    section.problem("authorityLife", "is shorter than three lives of a certificate",
                    "the authority must outlive what it signs; give it years");
  read_object_name(section, "trust", extender.trust);
  read_object_name(section, "clientSecret", extender.client_secret);
  read_optional_name(section, "schedulerLease", extender.scheduler_lease);
  section.duration("httpTimeout", extender.http_timeout_s);
}

void read_webhook(Section& section, WebhookSettings& webhook) {
  section.text("schedulerName", webhook.scheduler_name);
  read_object_name(section, "serviceAccount", webhook.service_account);
  section.text("configuration", webhook.configuration);
  section.section("certificate", [&](Section& s) { read_certificate(s, webhook.certificate); });
}

void read_remote_api(Section& section, RemoteApiSettings& api) {
  section.section("certificate", [&](Section& s) { read_certificate(s, api.certificate); });
  read_object_name(section, "trust", api.trust);
  section.text("url", api.url);
  if (!api.url.empty() && !api.url.starts_with("https://"))
    section.problem("url", format("is \"{}\"", printable(api.url, 64)),
                    "it must begin with https://, or be \"\": then pods are not told");
}

void read_trust(Section& section, TrustSettings& trust) {
  read_object_name(section, "keySecret", trust.key_secret);
  section.duration("keyLife", trust.key_life_s);
  if (trust.key_life_s < kLeastKeyLife_s)
    section.problem("keyLife", format("is {}", format_duration(trust.key_life_s)),
                    "it must be at least 1h: plans that were signed more than five lives ago are "
                    "believed no more");
}

void read_order(Section& section, std::vector<GpuType>& types) {
  std::vector<std::string> names;
  for (const GpuType& type : types)
    names.push_back(type.str());
  section.texts("gpuTypes", names);
  types.clear();
  for (std::string& name : names) {
    if (name == "any" || name.find(',') != std::string::npos)
      section.problem("gpuTypes", format("has \"{}\"", printable(name, 64)),
                      "it must be a list of single GPU types; [] means any");
    types.emplace_back(std::move(name));
  }
}

void read_rules(Section& section, QueueRules& rules) {
  section.integer("maxPending", rules.max_pending, 0);
  section.integer("maxRunning", rules.max_running, 0);
  section.duration("fallbackAfter", rules.fallback_after_s);
  section.duration("giveBackWithin", rules.give_back_within_s, /*may_be_zero=*/true);
  read_order(section, rules.gpu_types);
  section.flag("scaleUp", rules.scale_up);
  section.section("preemption", [&](Section& preemption) {
    preemption.flag("preemptible", rules.preemptible);
    preemption.duration("notice", rules.notice_s, /*may_be_zero=*/true);
    if (rules.notice_s > kMostNotice_s)
      preemption.problem("notice", format("is {}", format_duration(rules.notice_s)),
                         "it must be at most 10m: the task that needs the room waits for it");
  });
  section.choice<Rescheduling>("rescheduling", rules.rescheduling,
                               {{"off", Rescheduling::kOff},
                                {"advise", Rescheduling::kAdvise},
                                {"auto", Rescheduling::kAuto}});
  section.choice<ResizeMode>(
      "resize", rules.resize,
      {{"off", ResizeMode::kOff}, {"advise", ResizeMode::kAdvise}, {"auto", ResizeMode::kAuto}});
}

void read_shares(Section& section, QueueRules& rules) {
  for (const std::string& type : section.keys())
    section.section(type, [&](Section& share) {
      GpuShare& read = rules.shares[type];
      share.integer("own", read.own, 0, kMostShare);
      share.integer("borrow", read.borrow, 0, kMostShare);
    });
}

std::int64_t own_of(const QueueRules& rules, const std::string& type) {
  std::int64_t gpus = 0;
  for (const auto& [name, share] : rules.shares)
    if (to_lower(name) == to_lower(type)) gpus += share.own;
  return gpus;
}

// A parent stands before its children, so `queues` has it, and the children that were read before.
void check_parent(Section& item, const QueueRules& rules, const QueueRulebook& queues) {
  const auto parent = queues.named.find(rules.parent);
  const std::string shown = printable(rules.parent, 64);
  if (parent == queues.named.end())
    return item.problem("parent", format("queue {} is not given before", shown),
                        "it must be a queue of this list that stands above its children");
  if (!parent->second.parent.empty())
    return item.problem("parent", format("queue {} has a parent itself", shown),
                        "there is one level: name the parent of that, or none");
  std::set<std::string> told;
  for (const auto& [type, share] : rules.shares) {
    if (!told.insert(to_lower(type)).second) continue;  // another spelling, counted with the first
    std::int64_t gpus = own_of(rules, type);
    for (const auto& [name, other] : queues.named)
      if (other.parent == rules.parent) gpus += own_of(other, type);
    const std::int64_t most = own_of(parent->second, type);
    if (gpus > most)
      item.problem("shares",
                   format("the children of queue {} own {} {} and the queue itself {}", shown, gpus,
                          printable(type, 64), most),
                   "what a parent owns has to cover what its children own");
  }
}

// Keys that a queue leaves out are as in `queue`.
void read_queue(Section& item, QueueRulebook& queues) {
  std::string name;
  item.text("name", name);
  QueueRules rules = queues.defaults;
  read_rules(item, rules);
  item.text("parent", rules.parent);
  item.section("shares", [&](Section& s) { read_shares(s, rules); });
  if (!rules.parent.empty()) check_parent(item, rules, queues);
  if (!is_label_value(name))
    item.problem("name", format("is \"{}\"", printable(name, 64)),
                 "it must be a queue: a value of slackline.dev/queue, or a namespace");
  else if (!queues.named.emplace(name, rules).second)
    item.problem("name", format("queue {} is given twice", printable(name, 64)),
                 "keep one of them");
}

void read_planner(Section& section, PlannerSettings& planner) {
  section.text("policy", planner.policy);
  read_object_name(section, "lease", planner.lease);
  section.flag("giveBack", planner.give_back);
  section.flag("noteForecasts", planner.note_forecasts);
  section.flag("shadowEvents", planner.shadow_events);
  section.duration("slowAfter", planner.slow_after_s);
  if (planner.slow_after_s < kLeastSlowAfter_s)
    section.problem("slowAfter", format("is {}", format_duration(planner.slow_after_s)),
                    "it must be at least 1s; reports of progress come once a minute");
}

void read_calibration(Section& section, CalibrationRules& rules) {
  section.number("gpuMinutesPerDay", rules.gpu_minutes_per_day, 0, true);
  section.integer("iterations", rules.iterations, 1, kMostTrialIterations);
  section.duration("idleFor", rules.idle_for_s, /*may_be_zero=*/true);
  section.duration("maxRun", rules.most_run_s);
  if (rules.most_run_s < kLeastTrialRun_s)
    section.problem("maxRun", format("is {}", format_duration(rules.most_run_s)),
                    "it must be at least 1m: a run of less than 20s measures nothing");
  section.text("priorityClass", rules.priority_class);
}

void read_cluster(Section& section, ClusterSettings& cluster) {
  std::string source = "kube";
  section.text("source", source);
  if (source.starts_with(kDumpPrefix) && source.size() > kDumpPrefix.size())
    cluster.dump_file = source.substr(kDumpPrefix.size());
  else if (source != "kube")
    section.problem(
        "source", format("is \"{}\"", printable(source, 64)),
        "allowed: kube, file:DUMP (what `kubectl get nodes,pods,jobs -A -o yaml` prints)");
  section.text("kubeconfig", cluster.kubeconfig);
  section.duration("staleAfter", cluster.stale_after_s);
  if (cluster.stale_after_s < kLeastStaleAfter_s)
    section.problem("staleAfter", format("is {}", format_duration(cluster.stale_after_s)),
                    "it must be at least 90s: a watch of a quiet cluster is silent for that long");
  section.duration("auditInterval", cluster.audit_interval_s);
}

void read_log(Section& section, LogSettings& log) {
  section.choice<LogLevel>("level", log.level,
                           {{"debug", LogLevel::kDebug},
                            {"info", LogLevel::kInfo},
                            {"warning", LogLevel::kWarning},
                            {"error", LogLevel::kError}});
  section.choice<LogFormat>("format", log.format,
                            {{"text", LogFormat::kText}, {"json", LogFormat::kJson}});
}

void read_copy(Section& section, CopySettings& from) {
  section.text("url", from.url);
  section.text("tokenFile", from.token_file);
  section.text("caFile", from.ca_file);
  const bool tls = from.url.starts_with("https://");
  if (!from.url.empty() && !tls && !from.url.starts_with("http://"))
    section.problem("url", format("is \"{}\"", printable(from.url, 128)),
                    "write http(s)://HOST[:PORT] of REST of another replica");
  if (from.url.empty() && !(from.token_file + from.ca_file).empty())
    section.warning("url", "is missing, so nothing is copied", "name REST of another replica");
  if (!tls && !from.url.empty() && !from.token_file.empty())
    section.warning("tokenFile", "is sent over https:// and to this machine only",
                    "write https:// in url, or leave the token out");
}

void read_root(Section& root, Configuration& out) {
  read_header(root);
  root.choice<Mode>(
      "mode", out.mode,
      {{"shadow", Mode::kShadow}, {"advise", Mode::kAdvise}, {"active", Mode::kActive}});
  root.section("gpus", [&](Section& s) { read_gpus(s, out.gpus); });
  root.section("topology", [&](Section& s) { s.texts("labels", out.gpus.topology_labels); });
  root.texts("profiles", out.profiles);
  root.section("scoring", [&](Section& s) { s.number("theta", out.scoring.theta, 0, true); });
  root.section("listeners", [&](Section& s) {
    s.section("extender", [&](Section& l) {
      read_listener(l, out.listeners.extender, Security::kGivenOrOwnTls);
      check_extender_clients(l, out.listeners.extender);
    });
    s.section("api", [&](Section& l) { read_listener(l, out.listeners.api, Security::kGivenTls); });
    s.section("metrics",
              [&](Section& l) { read_listener(l, out.listeners.metrics, Security::kPlain); });
    s.section("remoteApi", [&](Section& l) {
      read_optional_listener(l, out.listeners.remote_api, Security::kGivenOrOwnTls);
    });
    s.section("proxyApi", [&](Section& l) {
      read_optional_listener(l, out.listeners.proxy_api, Security::kPlain);
    });
    s.section("webhook", [&](Section& l) {
      read_optional_listener(l, out.listeners.webhook, Security::kGivenOrOwnTls);
    });
    s.section("visibility", [&](Section& l) {
      read_optional_listener(l, out.listeners.visibility, Security::kPlain);
      if (!out.listeners.visibility.address.empty() && out.listeners.webhook.address.empty())
        l.problem("address", "is given without one of listeners.webhook",
                  "give the webhook one: its certificate is served here too");
    });
    check_clashes(s, out.listeners);
  });
  root.section("extender", [&](Section& s) { read_extender(s, out.extender); });
  root.section("remoteApi", [&](Section& s) { read_remote_api(s, out.remote_api); });
  root.section("webhook", [&](Section& s) { read_webhook(s, out.webhook); });
  root.section("trust", [&](Section& s) { read_trust(s, out.trust); });
  root.section("queue", [&](Section& s) { read_rules(s, out.queues.defaults); });
  root.sections("queues", [&](Section& item) { read_queue(item, out.queues); });
  root.section("planner", [&](Section& s) { read_planner(s, out.planner); });
  root.section("calibration", [&](Section& s) { read_calibration(s, out.calibration); });
  root.section("learning", [&](Section& s) { s.flag("fromRuns", out.learning.from_runs); });
  root.section("cluster", [&](Section& s) { read_cluster(s, out.cluster); });
  root.section("telemetry", [&](Section& s) { read_telemetry(s, out.telemetry); });
  root.section("store", [&](Section& s) {
    for (const char* key : {"path", "modelsPath", "portraitsPath"})
      out.store.named = out.store.named || s.find(key) != nullptr;
    s.text("path", out.store.path);
    s.text("modelsPath", out.store.models_path);
    s.text("portraitsPath", out.store.portraits_path);
    s.integer("keepRows", out.store.keep_rows, 1);
    s.duration("keepHistory", out.store.keep_history_s);
    s.duration("keepPortraits", out.store.keep_portraits_s);
    s.duration("leastEvidence", out.store.least_evidence_s);
    s.section("copyFrom", [&](Section& from) { read_copy(from, out.store.copy_from); });
    if (out.store.path.empty()) s.problem("path", "is empty", "name a file, or none");
    if (out.store.in_memory() && !(out.store.models_path + out.store.portraits_path).empty())
      s.warning("path", "is none, so modelsPath and portraitsPath are not used",
                "remove them, or name a file");
  });
  root.section("log", [&](Section& s) { read_log(s, out.log); });
}

void make_absolute(Configuration& configuration, const std::string& folder) {
  const auto lift = [&](std::string& file) {
    if (!file.empty() && file.front() != '/')
      file = (std::filesystem::path(folder) / file).lexically_normal().string();
  };
  for (std::string& pattern : configuration.profiles)
    lift(pattern);
  ListenersSettings& listeners = configuration.listeners;
  for (auto* listener :
       {&listeners.extender, &listeners.api, &listeners.remote_api, &listeners.webhook})
    if (listener->tls)
      for (auto* file :
           {&listener->tls->cert_file, &listener->tls->key_file, &listener->tls->client_ca_file})
        lift(*file);
  lift(configuration.cluster.dump_file);
  lift(configuration.cluster.kubeconfig);
  lift(configuration.telemetry.prometheus.bearer_token_file);
  lift(configuration.telemetry.prometheus.ca_file);
  lift(configuration.store.copy_from.token_file);
  lift(configuration.store.copy_from.ca_file);
  if (!configuration.store.in_memory()) lift(configuration.store.path);
  lift(configuration.store.models_path);
  lift(configuration.store.portraits_path);
}

// "a/slackline.db" -> "a/slackline.models.db"
std::string beside(const std::filesystem::path& journal, const std::string& name) {
  return (journal.parent_path() / (journal.stem().string() + name + journal.extension().string()))
      .string();
}

}  // namespace

bool is_loopback(const ListenerSettings& listener) {
  const Result<Address> address = parse_address(listener.address);
  return address && (address->host == "localhost" || address->host == "::1" ||
                     address->host.starts_with("127."));
}

std::string StoreSettings::models_file() const {
  if (in_memory()) return path;
  return models_path.empty() ? beside(path, ".models") : models_path;
}

std::string StoreSettings::portraits_file() const {
  if (in_memory()) return path;
  return portraits_path.empty() ? beside(path, ".portraits") : portraits_path;
}

Loaded parse_configuration(std::string_view text, const std::string& folder) {
  Loaded loaded;
  const auto document = wire::read_document(text);
  if (!document) {
    loaded.findings.push_back(unreadable(document.error()));
    return loaded;
  }
  {
    Section root(*document, "", loaded.findings);
    read_root(root, loaded.configuration);
  }
  if (!folder.empty()) make_absolute(loaded.configuration, folder);
  sort_by_line(loaded.findings);
  return loaded;
}

Result<std::string> read_text_file(const std::string& file) {
  const auto unreadable = [&](std::string_view why) {
    return fail(ErrorCode::kUnavailable, format("{} cannot be read: {}", file, why));
  };
  // To open what is no file may take for ever: a FIFO waits for its writer.
  if (const FileKind kind = file_kind(file); !is_or_becomes_regular(kind))
    return unreadable(format("it is {}", to_string(kind)));
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(file, error);
  if (error) return unreadable(error.message());
  if (size > kMaxFileBytes)
    return fail(ErrorCode::kInvalidArgument,
                format("{} is larger than {} bytes", file, kMaxFileBytes));
  std::ifstream stream(file, std::ios::binary);
  if (!stream) return unreadable(std::generic_category().message(errno));
  return std::string{std::istreambuf_iterator<char>(stream), {}};
}

Result<Loaded> read_configuration(const std::string& file) {
  SLACKLINE_ASSIGN(const std::string text, read_text_file(file));
  return parse_configuration(text, std::filesystem::absolute(file).parent_path().string());
}

Result<Configuration> load_configuration(const std::string& file) {
  SLACKLINE_ASSIGN(Loaded loaded, read_configuration(file));
  if (has_errors(loaded.findings))
    return fail(ErrorCode::kInvalidArgument, std::string(trim(to_string(loaded.findings, file))));
  return std::move(loaded.configuration);
}

}  // namespace slackline::config
