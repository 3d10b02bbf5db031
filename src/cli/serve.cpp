// `slackline serve`: the daemon. Flags win over the configuration file.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <string_view>

#include <unistd.h>

#include "cli/cluster_once.h"
#include "cli/commands.h"
#include "cli/daemon.h"
#include "cli/exit_codes.h"
#include "cli/numbers.h"
#include "config/load.h"
#include "control/learn/profiles.h"
#include "control/state/reloader.h"
#include "obs/log.h"
#include "slackline/base/file_kind.h"

namespace slackline::cli {
namespace {

struct ServeOptions {
  std::string config;
  std::string cluster;
  std::string kubeconfig;
  std::string store;
  std::string mode;
  std::string extender;
  std::string api;
  std::string metrics;
  std::string webhook;
  bool give_back = false;
  double grace_s = 5;
};

Result<config::Configuration> configure(const ServeOptions& options) {
  config::Configuration configuration;
  if (!options.config.empty()) {
    SLACKLINE_ASSIGN(configuration, config::load_configuration(options.config));
  }
  SLACKLINE_TRY(apply_cluster(options.cluster, configuration.cluster));
  const auto set = [](std::string& target, const std::string& flag) {
    if (!flag.empty()) target = flag;
  };
  set(configuration.cluster.kubeconfig, options.kubeconfig);
  set(configuration.store.path, options.store);
  // Who looks at a dump wants no files in the folder where he is.
  const bool named = configuration.store.named || !options.store.empty();
  if (!named && !configuration.cluster.dump_file.empty()) configuration.store.path = kNoFile;
  set(configuration.listeners.extender.address, options.extender);
  set(configuration.listeners.api.address, options.api);
  set(configuration.listeners.metrics.address, options.metrics);
  set(configuration.listeners.webhook.address, options.webhook);
  for (const Mode mode : {Mode::kShadow, Mode::kAdvise, Mode::kActive})
    if (options.mode == to_string(mode)) configuration.mode = mode;
  if (options.give_back) configuration.planner.give_back = true;
  return configuration;
}

// For the running daemon: a value that it would refuse at the start must not seem accepted.
Result<config::Configuration> configure_again(const ServeOptions& options) {
  SLACKLINE_ASSIGN(config::Configuration configuration, configure(options));
  if (const auto profiles = control::load_profiles(configuration.profiles); !profiles)
    return fail(profiles.error());
  return configuration;
}

// Signals that end the daemon or make it read its files again are blocked before any thread starts,
// so that only sigwait() takes them; none of the rest may end it without a drain.
sigset_t take_signals() {
  for (const int ignored : {SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGIO, SIGPIPE, SIGXFSZ})
    std::signal(ignored, SIG_IGN);
  sigset_t signals;
  sigemptyset(&signals);
  for (const int taken : {SIGTERM, SIGINT, SIGQUIT, SIGHUP})
    sigaddset(&signals, taken);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return signals;
}

// A closed terminal and `kill -HUP` make the daemon read its files again.
int wait_for_the_end(const sigset_t& signals, Daemon& daemon) {
  for (;;) {
    int signal = 0;
    if (sigwait(&signals, &signal) != 0) continue;
    if (signal != SIGHUP) return signal;
    obs::log_info("reload_asked");
    daemon.reload();
  }
}

// Reports errors that no part of the daemon handled. It allocates no memory.
[[noreturn]] void end_with_a_word() {
  std::string_view why = "level=error event=aborted error=\"an impossible state\"\n";
  try {
    if (const auto thrown = std::current_exception()) std::rethrow_exception(thrown);
  } catch (const std::bad_alloc&) {
    why =
        "level=error event=aborted error=\"out of memory\" remedy=\"give the daemon more memory; "
        "decisions are in the journal, and the next start continues from there\"\n";
  } catch (const std::exception&) {
    why = "level=error event=aborted error=\"an unexpected exception\"\n";
  } catch (...) {
    why = "level=error event=aborted error=\"an exception of unknown type\"\n";
  }
  static_cast<void>(::write(STDERR_FILENO, why.data(), why.size()) > 0);
  std::abort();
}

int run(const ServeOptions& options) {
  const auto configuration = configure(options);
  if (!configuration) {
    std::fprintf(stderr, "slackline: %s\n", configuration.error().message.c_str());
    return kFailure;
  }
  obs::configure_log(control::log_level(configuration->log),
                     configuration->log.format == config::LogFormat::kJson);
  std::set_terminate(end_with_a_word);
  const sigset_t signals = take_signals();
  auto daemon = Daemon::start(*configuration,
                              {options.config, [options] { return configure_again(options); }});
  if (!daemon) {
    std::fprintf(stderr, "slackline: %s\n", daemon.error().message.c_str());
    return kFailure;
  }
  const int signal = wait_for_the_end(signals, **daemon);
  // Ctrl-C is a person who waits; SIGTERM is a rollout, where kube-scheduler may be in the middle
  // of a call.
  (*daemon)->stop(signal == SIGINT ? 0 : options.grace_s);
  return 0;
}

}  // namespace

void add_serve(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<ServeOptions>();
  CLI::App* command = app.add_subcommand("serve", "Run the daemon");
  command->add_option("--config", options->config, "SlacklineConfiguration (YAML)")
      ->check(CLI::ExistingFile);
  command->add_option(
      "--cluster", options->cluster,
      "kube (an API server), or file:DUMP of `kubectl get nodes,pods,jobs -A -o yaml`");
  command->add_option(
      "--kubeconfig", options->kubeconfig,
      "Kubeconfig; without one the pod's ServiceAccount, $KUBECONFIG or ~/.kube/config");
  command->add_option("--store", options->store,
                      "SQLite file of the decision journal, next to which the others are; none: "
                      "all in memory, no file is written [slackline.db; of a dump none]");
  command
      ->add_option(
          "--mode", options->mode,
          "shadow: decide and journal only; advise: filter, score and warn; active: queue and "
          "release too")
      ->check(CLI::IsMember({"shadow", "advise", "active"}));
  command->add_option("--listen-extender", options->extender, "Address for kube-scheduler");
  command->add_option("--listen-api", options->api, "Address of the REST API");
  command->add_option("--listen-metrics", options->metrics,
                      "Address of metrics and health, plain HTTP");
  command->add_option("--listen-webhook", options->webhook,
                      "Address of the admission webhook, always TLS");
  command->add_flag("--give-back", options->give_back,
                    "In shadow and advise mode: release the tasks that active mode has left "
                    "waiting, once no replica has renewed the planner's Lease for 30 s. Without it "
                    "these modes write only bindings");
  command
      ->add_option("--grace", options->grace_s, "Seconds between unready and closed after SIGTERM")
      ->check(in_range(0, 60))
      ->capture_default_str();
  command->callback([&exit_code, options] { exit_code = run(*options); });
}

}  // namespace slackline::cli
