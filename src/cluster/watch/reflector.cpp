#include "cluster/watch/reflector.h"

#include <algorithm>
#include <utility>

#include "cluster/watch/lister.h"
#include "obs/log.h"
#include "slackline/base/text.h"

namespace slackline::cluster {
namespace {

using Mode = WatchSession::Mode;

// A Retry-After beyond this is taken for a mistake.
constexpr double kMaxRetryAfter_s = 300;

std::string rbac_message(const ResourceSpec& resource, const ApiFailure& failure) {
  return format(
      "RBAC: may not list and watch {}{}{} in all namespaces; grant the verbs get, list, watch on "
      "this resource (deploy/rbac): {}",
      resource.name, resource.api_group.empty() ? "" : ".", resource.api_group, failure.message);
}

}  // namespace

Reflector::Reflector(const ResourceSpec& resource, Parts parts, const KubeOptions& options,
                     const GpuCatalog& catalog, std::uint64_t seed)
    : resource_(resource),
      parts_(parts),
      options_(options),
      decoder_(catalog),
      backoff_(options.timers, seed),
      stream_(parts.client.make_stream()) {}

Reflector::~Reflector() {
  stop();
  join();
}

void Reflector::stop() {
  worker_.stop();
  interrupt_.interrupt();
}

void Reflector::relist() {
  relist_wanted_ = true;
  interrupt_.interrupt();
}

void Reflector::run() {
  while (worker_.wait(0)) {
    const double began_s = parts_.clock.steady_s();
    Outcome outcome = listed_      ? watch(Mode::kWatch)
                      : streaming_ ? watch(Mode::kInitialEvents)
                                   : list_pages();
    if (relist_wanted_.exchange(false)) {
      // stop() comes either before this, and wait() sees it, or after, and interrupts what follows.
      interrupt_.reset();
      outcome = {.reason = "drift", .list_anew = true, .urgent = true, .detail = "relist"};
    }
    if (!worker_.wait(0)) return;
    if (outcome.list_anew) listed_ = false;
    if (outcome.reason.empty()) continue;
    report(outcome);
    const double lived_s = parts_.clock.steady_s() - began_s;
    const double pause_s = backoff_.next_s(lived_s, outcome.urgent);
    if (!worker_.wait(std::max(pause_s, outcome.retry_after_s))) return;
  }
}

Reflector::Outcome Reflector::list_pages() {
  list_began_s_ = parts_.clock.steady_s();
  parts_.cache.begin_relist(resource_.kind);
  const auto version = list_all(
      parts_.client, decoder_, resource_,
      {.page_size = options_.page_size,
       .timeout_s = options_.timers.request_timeout_s,
       .interrupt = &interrupt_},
      [&](wire::KubeObject object) { parts_.cache.upsert(std::move(object)); },
      [&] { parts_.board.alive(resource_.kind); });
  if (!version) return judge(version.error(), false);
  if (version->empty())
    return {.reason = "bad_list", .detail = "a list without metadata.resourceVersion"};
  parts_.cache.finish_relist(resource_.kind);
  note_listed();
  resource_version_ = *version;
  listed_ = true;
  streaming_ = true;  // the next relist asks again: the server may have been upgraded
  return {};
}

std::string Reflector::watch_path(Mode mode) {
  const auto timeout_s =
      static_cast<int>(backoff_.uniform(options_.timers.watch_min_s, options_.timers.watch_max_s));
  std::string path = format("{}?watch=true&allowWatchBookmarks=true&timeoutSeconds={}",
                            resource_.path, std::max(1, timeout_s));
  if (mode == Mode::kInitialEvents)
    return path + "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan";
  return path + "&resourceVersion=" + path_segment(resource_version_);
}

Reflector::Outcome Reflector::watch(Mode mode) {
  list_began_s_ = parts_.clock.steady_s();
  WatchSession session(parts_.cache, decoder_, resource_.kind, mode, resource_version_);
  net::StreamRequest request;
  request.url = watch_path(mode);
  request.head_timeout_s = options_.timers.head_s;
  request.silence_timeout_s = options_.timers.silence_s;
  request.total_timeout_s = options_.timers.watch_max_s + 60;
  request.interrupt = &interrupt_;
  bool opened = false;
  const auto on_open = [&] {
    opened = true;
    parts_.board.alive(resource_.kind);
  };
  const auto on_line = [&](std::string_view line) {
    parts_.board.alive(resource_.kind);
    const bool before = session.listed();
    const bool go_on = session.on_line(line);
    if (!before && session.listed()) note_listed();
    return go_on;
  };
  const auto ended =
      parts_.client.stream(*stream_, request, {.on_open = on_open, .on_line = on_line});
  if (session.listed()) {
    listed_ = true;
    resource_version_ = session.resource_version();
  }
  if (streaming_list_failed(session, opened, ended ? 0 : ended.error().status)) {
    obs::log_info("streaming_list_unavailable", {{"resource", resource_.name}});
    streaming_ = false;
    return {};
  }
  const bool repeats = bad_version_ == resource_version_;
  if (session.end() == WatchSession::End::kBadFrame) bad_version_ = resource_version_;
  if (session.end()) return judge(session, repeats);
  if (!ended) return judge(ended.error(), opened);
  return {.reason = "closed", .detail = "the server closed the watch"};
}

// Servers without streaming lists refuse them (400, 422) or serve an ordinary watch, and proxies
// may cut them: a list that opened and did not complete is tried page by page. An ERROR frame
// speaks for itself.
bool Reflector::streaming_list_failed(const WatchSession& session, bool opened, int status) const {
  if (session.listed() || session.end() == WatchSession::End::kError) return false;
  if (interrupt_.interrupted()) return false;
  return opened || status == 400 || status == 422;
}

Reflector::Outcome Reflector::judge(const WatchSession& session, bool frame_repeats) const {
  switch (*session.end()) {
    case WatchSession::End::kError:
      return judge(session.failure(), true);
    case WatchSession::End::kVersionRegressed:
      return {.reason = "version_regressed",
              .list_anew = true,
              .urgent = true,
              .detail = "the server's history was replaced"};
    case WatchSession::End::kBadFrame:
    case WatchSession::End::kNotStreaming:
      break;
  }
  // Requesting the same frame once more may help; a third time will not.
  return {.reason = "bad_frame", .list_anew = frame_repeats, .detail = session.failure().message};
}

Reflector::Outcome Reflector::judge(const ApiFailure& failure, bool opened) const {
  Outcome outcome;
  outcome.retry_after_s = std::min(failure.retry_after_s, kMaxRetryAfter_s);
  outcome.detail = failure.message;
  if (failure.expired() || failure.too_large_version()) {
    outcome.reason = failure.expired() ? "expired" : "too_large_version";
    outcome.list_anew = outcome.urgent = true;
  } else if (failure.status == 401) {
    outcome.reason = "unauthorized";
  } else if (failure.status == 403) {
    outcome.reason = "forbidden";
    outcome.detail = rbac_message(resource_, failure);
  } else if (failure.status == 429) {
    outcome.reason = "too_many_requests";
  } else if (failure.status != 0) {
    outcome.reason = failure.code == ErrorCode::kDataLoss ? "bad_list" : "server_error";
  } else if (failure.code == ErrorCode::kTimeout && opened) {
    outcome.reason = "silent";
  } else if (failure.code == ErrorCode::kResourceExhausted) {
    outcome.reason = "line_too_long";  // the same watch would meet it again
    outcome.list_anew = true;
  } else {
    outcome.reason = failure.code == ErrorCode::kDataLoss ? "bad_frame" : "unreachable";
  }
  return outcome;
}

void Reflector::note_listed() {
  const ClusterSource::ListTimes times{list_began_s_, parts_.clock.steady_s()};
  MutexLock lock(mutex_);
  last_list_ = times;
}

std::optional<ClusterSource::ListTimes> Reflector::listed() const {
  MutexLock lock(mutex_);
  return last_list_;
}

void Reflector::report(const Outcome& outcome) {
  parts_.metrics
      .counter("slackline_watch_restarts_total",
               {{"resource", resource_.name}, {"reason", outcome.reason}})
      .add();
  if (outcome.reason == "closed") return;
  if (!parts_.board.trouble(resource_.kind, outcome.reason, outcome.detail)) return;
  const auto level = outcome.urgent ? obs::LogLevel::kInfo : obs::LogLevel::kWarning;
  obs::log(level, "watch_trouble",
           {{"resource", resource_.name}, {"reason", outcome.reason}, {"error", outcome.detail}});
}

}  // namespace slackline::cluster
