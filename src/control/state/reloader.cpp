#include "control/state/reloader.h"

#include <utility>
#include <vector>

#include <sys/stat.h>

#include "config/restart.h"
#include "slackline/base/text.h"

namespace slackline::control {
namespace {

constexpr std::string_view kReloads = "slackline_config_reloads_total";

// What tells one content of the file from the next, through all symlinks.
std::string look_at(const std::string& file) {
  struct stat info{};
  if (stat(file.c_str(), &info) != 0) return "absent";
  return format("{}:{}:{}:{}.{}", info.st_dev, info.st_ino, info.st_size, info.st_mtim.tv_sec,
                info.st_mtim.tv_nsec);
}

}  // namespace

obs::LogLevel log_level(const config::LogSettings& settings) {
  switch (settings.level) {
    case config::LogLevel::kDebug:
      return obs::LogLevel::kDebug;
    case config::LogLevel::kInfo:
      return obs::LogLevel::kInfo;
    case config::LogLevel::kWarning:
      return obs::LogLevel::kWarning;
    case config::LogLevel::kError:
      break;
  }
  return obs::LogLevel::kError;
}

Reloader::Reloader(ReloaderOptions options, Published<Settings>& settings,
                   obs::MetricsRegistry& metrics, const Clock& clock)
    : options_(std::move(options)),
      settings_(settings),
      clock_(clock),
      loaded_(metrics.counter(kReloads, {{"result", "loaded"}})),
      refused_(metrics.counter(kReloads, {{"result", "refused"}})),
      last_success_(metrics.gauge("slackline_config_last_success_timestamp_seconds")),
      loaded_look_(look_at(options_.file)) {
  last_success_.set(clock_.wall_s());
}

void Reloader::run() {
  // It may have changed since the daemon read it: then it is loaded below, once it is still.
  if (const auto now = options_.read(); now && *now != options_.started) loaded_look_.clear();
  std::string before = look_at(options_.file);
  while (worker_.wait(options_.poll_s)) {
    std::string now = look_at(options_.file);
    if (now == before && (asked_.exchange(false) || now != loaded_look_)) {
      loaded_look_ = now;
      load(Cause::kChange);
    } else if (now == before && refusal_ && clock_.steady_s() >= retry_at_s_) {
      load(Cause::kRetry);
    }
    before = std::move(now);
  }
}

void Reloader::load(Cause cause) {
  const auto configuration = options_.read();
  if (!configuration) return refuse(configuration.error().message, cause);
  auto settings = settings_of(*configuration);
  if (!settings) return refuse(settings.error().message, cause);
  refusal_.reset();
  obs::set_log_level(log_level(configuration->log));
  settings_.set(*std::move(settings));
  loaded_.add();
  last_success_.set(clock_.wall_s());
  obs::log_info("configuration_loaded", {{"file", options_.file}});
  const auto keys = config::needs_restart(options_.started, *configuration);
  if (!keys.empty())
    obs::log_warning("configuration_needs_restart",
                     {{"file", options_.file}, {"keys", slackline::join(keys, ", ")}});
  options_.changed();
}

void Reloader::refuse(const std::string& error, Cause cause) {
  retry_at_s_ = clock_.steady_s() + options_.retry_s;
  if (cause == Cause::kRetry && refusal_ == error) return;
  refusal_ = error;
  std::vector<std::string> findings;
  for (const std::string_view line : split(error, '\n'))
    findings.emplace_back(line);
  obs::log_error("configuration_refused", {{"file", options_.file},
                                           {"error", slackline::join(findings, "; ")},
                                           {"kept", "the last good one"}});
  refused_.add();
}

}  // namespace slackline::control
