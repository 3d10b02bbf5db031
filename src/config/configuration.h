// Configuration: what one SlacklineConfiguration file says, with defaults for what it leaves out.
//
// Plain values, validated by load.h; deploy/slackline.yaml documents every key. Relative file names
// of a loaded file are relative to the file's own folder.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "message/telemetry_settings.h"
#include "slackline/base/file_kind.h"
#include "slackline/model/calibration_order.h"
#include "slackline/model/gpu_catalog.h"
#include "slackline/model/mode.h"
#include "slackline/model/queue_rules.h"

namespace slackline::config {

inline constexpr std::string_view kApiVersion = "config.slackline.dev/v1alpha1";
inline constexpr std::string_view kKind = "SlacklineConfiguration";

struct TlsSettings {
  std::string cert_file;  // PEM, leaf first; empty for the webhook: Slackline makes its own
  std::string key_file;
  std::string client_ca_file;  // if set, clients must present a certificate of this CA
  std::vector<std::string> client_names = {};  // if not empty, one that names one of these

  friend bool operator==(const TlsSettings&, const TlsSettings&) = default;
};

// The limits of one listener; listeners share nothing.
struct ListenerLimits {
  std::int64_t connections = 1024;
  std::int64_t memory_bytes = 0;        // of requests and unread answers together
  std::int64_t max_body_bytes = 0;      // of one request
  std::int64_t threads = 0;             // for handlers that may wait
  std::int64_t handshakes_per_s = 100;  // TLS, of one client address

  friend bool operator==(const ListenerLimits&, const ListenerLimits&) = default;
};

struct ListenerSettings {
  std::string address;  // "127.0.0.1:8181", "[::1]:0", ":8443" (every interface)
  std::optional<TlsSettings> tls;
  ListenerLimits limits{};

  friend bool operator==(const ListenerSettings&, const ListenerSettings&) = default;
};

bool is_loopback(const ListenerSettings& listener);

// A certificate that Slackline makes itself and that all replicas share.
struct CertificateSettings {
  std::vector<std::string> names;  // the listener's DNS names and IP addresses
  std::string secret;              // NAMESPACE/NAME of the Secret that keeps it
  double life_s = 0;

  friend bool operator==(const CertificateSettings&, const CertificateSettings&) = default;
};

// Off loopback extender and api demand TLS, the extender client certificates too; metrics and
// health are always plain.
struct ListenersSettings {
  static constexpr std::int64_t kMi = std::int64_t{1} << 20;

  ListenerSettings extender{
      "127.0.0.1:8181", {}, {.memory_bytes = 256 * kMi, .max_body_bytes = 16 * kMi, .threads = 64}};
  ListenerSettings api{
      "127.0.0.1:8180", {}, {.memory_bytes = 64 * kMi, .max_body_bytes = 2 * kMi, .threads = 2}};
  // REST for people of the cluster: TLS, by default with Slackline's own certificate, and tokens.
  // Without an address: off.
  ListenerSettings remote_api{
      "", {}, {.memory_bytes = 64 * kMi, .max_body_bytes = 2 * kMi, .threads = 4}};
  // REST for the API server's service proxy: read-only, plain, for everybody who reaches it.
  // Without an address: off.
  ListenerSettings proxy_api{"", {}, {.memory_bytes = 64 * kMi, .threads = 2}};
  ListenerSettings metrics{"127.0.0.1:8182", {}, {.memory_bytes = 16 * kMi, .threads = 1}};
  // Without an address: off. Without tls Slackline makes its own certificate.
  ListenerSettings webhook{
      "", {}, {.memory_bytes = 128 * kMi, .max_body_bytes = 8 * kMi, .threads = 64}};
  // REST for the API server's aggregation layer, with the webhook's certificate. Without an
  // address: off.
  ListenerSettings visibility{"", {}, {.memory_bytes = 64 * kMi, .threads = 4}};

  friend bool operator==(const ListenersSettings&, const ListenersSettings&) = default;
};

// Off loopback and without tls files, Slackline makes the certificates of extender and
// kube-scheduler, by an authority that it keeps (control/trust/authority_keeper.h).
struct ExtenderSettings {
  CertificateSettings certificate{
      {"slackline.slackline-system.svc"}, "slackline-system/slackline-extender-tls", 30 * 86400.0};
  // Long, because kube-scheduler reads the authority that it trusts only at its start.
  double authority_life_s = 3650 * 86400.0;
  // The kube-schedulers that call it: bind refuses the pods of others. Empty: all pods.
  std::vector<std::string> scheduler_names = {"gpu-scheduler"};
  // NAMESPACE/NAME of the ConfigMap with the authorities that kube-scheduler trusts, as ca.crt.
  std::string trust = "kube-system/slackline-extender-ca";
  // NAMESPACE/NAME of the Secret with kube-scheduler's own certificate, as tls.crt and tls.key.
  std::string client_secret = "kube-system/slackline-extender-client";
  // NAMESPACE/NAME of the Lease of the kube-scheduler that runs on the same host (in a pod: in the
  // same pod): while that one holds it, shares are given away here. Empty: planner.lease decides.
  std::string scheduler_lease;
  double http_timeout_s = 2;  // as in kube-scheduler's configuration

  friend bool operator==(const ExtenderSettings&, const ExtenderSettings&) = default;
};

// The admission webhook. Names of objects are NAMESPACE/NAME.
struct WebhookSettings {
  std::string scheduler_name = "gpu-scheduler";  // replaces default-scheduler; empty = never
  std::string service_account = "slackline-system/slackline";  // may write Slackline's keys
  CertificateSettings certificate{{"slackline-webhook.slackline-system.svc"},
                                  "slackline-system/slackline-webhook-tls",
                                  90 * 86400.0};
  std::string configuration = "slackline";  // of both webhook configurations

  friend bool operator==(const WebhookSettings&, const WebhookSettings&) = default;
};

// REST for people of the cluster.
struct RemoteApiSettings {
  CertificateSettings certificate{
      {"slackline-api.slackline-system.svc", "slackline-api.slackline-system", "localhost"},
      "slackline-system/slackline-api-tls",
      90 * 86400.0};
  // NAMESPACE/NAME of the ConfigMap with the authorities that people trust, as ca.crt.
  std::string trust = "slackline-system/slackline-api-ca";
  // How pods reach it, without a slash at the end: their SLACKLINE_URL. Empty: they are not told.
  std::string url = "https://slackline-api.slackline-system.svc";

  friend bool operator==(const RemoteApiSettings&, const RemoteApiSettings&) = default;
};

// The proof that Slackline wrote a plan or an admission.
struct TrustSettings {
  std::string key_secret = "slackline-system/slackline-plan-key";  // NAMESPACE/NAME of the Secret
  double key_life_s =
      90 * 86400.0;  // then another key signs; this one verifies for four lives more

  friend bool operator==(const TrustSettings&, const TrustSettings&) = default;
};

struct ScoringSettings {
  double theta = 1.0;  // 000 eq 10: weight of spread against GPU share, >= 0

  friend bool operator==(const ScoringSettings&, const ScoringSettings&) = default;
};

// The planner of active mode.
struct PlannerSettings {
  std::string policy = "default";  // as core/planning/policy.h names it
  std::string lease =
      "slackline-system/slackline";  // NAMESPACE/NAME; of several replicas one plans
  // Outside of active mode: whether Jobs and pods that active mode held back are returned to the
  // scheduler.
  bool give_back = false;
  double slow_after_s = 600;   // that slow a run must be before it is advised to move
  bool note_forecasts = true;  // on waiting Jobs, in an annotation
  bool shadow_events = false;  // of waiting tasks, in shadow and advise mode

  friend bool operator==(const PlannerSettings&, const PlannerSettings&) = default;
};

struct ClusterSettings {
  std::string dump_file;          // source file:DUMP; empty = the API server
  std::string kubeconfig;         // empty = in-cluster, else the default kubeconfig
  double stale_after_s = 150;     // an older cache is not used: everything passes
  double audit_interval_s = 600;  // how often the cache is compared with a fresh list

  friend bool operator==(const ClusterSettings&, const ClusterSettings&) = default;
};

// REST of another replica, whose portraits, history, decisions and models one takes that begins
// without them.
struct CopySettings {
  std::string url;         // http(s)://HOST[:PORT]; empty: nothing is taken
  std::string token_file;  // empty: no token
  std::string ca_file;     // PEM; empty: the system's authorities

  friend bool operator==(const CopySettings&, const CopySettings&) = default;
};

struct StoreSettings {
  std::string path = "slackline.db";     // kNoFile: all three in memory
  bool named = false;                    // one of the three was: else a dump is served without
  std::string models_path;               // of the model database; empty = next to `path`
  std::string portraits_path;            // of the portrait database; empty = next to `path`
  std::int64_t keep_rows = 300000;       // decisions of at most 1.5 kB; older ones are deleted
  double keep_history_s = 90 * 86400.0;  // finished tasks; at most 200,000 of them

  double keep_portraits_s = 365 * 86400.0;  // after the end of a family's last run
  double least_evidence_s = 1800;           // shorter runs say nothing of what their family needs
  CopySettings copy_from;

  // "slackline.db" -> "slackline.models.db", "slackline.portraits.db"
  std::string models_file() const;
  std::string portraits_file() const;
  bool in_memory() const { return path == kNoFile; }

  friend bool operator==(const StoreSettings&, const StoreSettings&) = default;
};

// How fast things train.
struct LearningSettings {
  bool from_runs = true;  // whether finished Jobs teach it

  friend bool operator==(const LearningSettings&, const LearningSettings&) = default;
};

enum class LogLevel { kDebug, kInfo, kWarning, kError };
enum class LogFormat { kText, kJson };

struct LogSettings {
  LogLevel level = LogLevel::kInfo;
  LogFormat format = LogFormat::kText;

  friend bool operator==(const LogSettings&, const LogSettings&) = default;
};

struct Configuration {
  Mode mode = Mode::kAdvise;
  GpuCatalog gpus = default_gpu_catalog();
  std::vector<std::string> profiles;  // files or globs of WorkloadProfiles, besides those shipped
  ScoringSettings scoring;
  ListenersSettings listeners;
  ExtenderSettings extender;
  RemoteApiSettings remote_api;
  WebhookSettings webhook;
  TrustSettings trust;
  QueueRulebook queues;
  PlannerSettings planner;
  CalibrationRules calibration;
  LearningSettings learning;
  ClusterSettings cluster;
  TelemetrySettings telemetry;
  StoreSettings store;
  LogSettings log;

  friend bool operator==(const Configuration&, const Configuration&) = default;
};

}  // namespace slackline::config
