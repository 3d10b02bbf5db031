// Reloader: reads the configuration file again when it has changed, and publishes what may
// change while the daemon runs.
//
// Looks every poll_s; a file that was written or replaced (rename, a ConfigMap's symlink) is read
// once it has looked the same twice. All or nothing: what cannot be read or is wrong is logged and
// counted, and the settings stay; it is tried again every retry_s, because a file that it names may
// come later, and logged and counted again only where something else is wrong. Keys that only a
// restart applies are named in the log.
//
// Metrics: slackline_config_reloads_total{result="loaded"|"refused"},
// slackline_config_last_success_timestamp_seconds (the start counts).
//
// Thread-safety: start() once, then stop() and join().
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>

#include "config/configuration.h"
#include "control/state/settings.h"
#include "obs/log.h"
#include "obs/metrics.h"
#include "slackline/base/clock.h"
#include "slackline/base/published.h"
#include "slackline/base/worker.h"

namespace slackline::control {

obs::LogLevel log_level(const config::LogSettings& settings);

struct ReloaderOptions {
  std::string file;
  config::Configuration started;  // what the daemon was started with
  // The file's present content, with what wins over it.
  std::function<Result<config::Configuration>()> read;
  std::function<void()> changed;  // called after new settings were published; must not block
  double poll_s = 1;
  double retry_s = 30;  // of what was refused
};

class Reloader {
 public:
  // The rest outlives it.
  Reloader(ReloaderOptions options, Published<Settings>& settings, obs::MetricsRegistry& metrics,
           const Clock& clock);

  void start() {
    worker_.start([this] { run(); });
  }
  void stop() { worker_.stop(); }
  void join() { worker_.join(); }
  // Reads the file again at the next look, changed or not. From any thread.
  void reload() { asked_ = true; }

 private:
  void run();
  enum class Cause { kChange, kRetry };
  void load(Cause cause);
  void refuse(const std::string& error, Cause cause);

  const ReloaderOptions options_;
  Published<Settings>& settings_;
  const Clock& clock_;
  obs::Counter loaded_;
  obs::Counter refused_;
  obs::Gauge last_success_;
  std::atomic<bool> asked_{false};
  std::string loaded_look_;  // of the content tried last, good or not
  // What was wrong with the content tried last, and when it is tried again.
  std::optional<std::string> refusal_;
  double retry_at_s_ = 0;
  Worker worker_;  // last: its thread ends first
};

}  // namespace slackline::control
