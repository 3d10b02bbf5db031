#include "cluster/watch/watch_session.h"

#include <utility>
#include <variant>

#include "slackline/base/text.h"

namespace slackline::cluster {
namespace {

// Opaque in theory; comparable integers in every API server, and so promised since 1.35.
bool is_older(const std::string& a, const std::string& b) {
  const auto left = parse_int(a);
  const auto right = parse_int(b);
  return left && right && *left < *right;
}

ApiFailure failure_of(const wire::KubeStatus& status) {
  ApiFailure failure;
  failure.status = status.code;
  failure.code = status.code == 410   ? ErrorCode::kGone
                 : status.code == 429 ? ErrorCode::kResourceExhausted
                                      : ErrorCode::kUnavailable;
  failure.reason = status.reason;
  failure.message =
      format("watch ended with status {}: {}", status.code, printable(status.message, 512));
  failure.retry_after_s = status.retry_after_s;
  return failure;
}

}  // namespace

WatchSession::WatchSession(Cache& cache, wire::KubeDecoder& decoder, wire::KubeKind kind, Mode mode,
                           std::string resource_version)
    : cache_(cache),
      decoder_(decoder),
      kind_(kind),
      mode_(mode),
      resource_version_(std::move(resource_version)) {
  if (mode == Mode::kInitialEvents) cache_.begin_relist(kind);
}

bool WatchSession::stop(End end) {
  end_ = end;
  return false;
}

bool WatchSession::on_line(std::string_view line) {
  auto frame = decoder_.watch_frame(kind_, line);
  if (!frame) {
    failure_.code = ErrorCode::kDataLoss;
    failure_.message = frame.error().message;
    return stop(End::kBadFrame);
  }
  switch (frame->type) {
    case wire::WatchType::kAdded:
    case wire::WatchType::kModified:
    case wire::WatchType::kDeleted:
      return on_object(*frame);
    case wire::WatchType::kBookmark:
      return on_bookmark(*frame);
    case wire::WatchType::kError:
      if (const auto* status = std::get_if<wire::KubeStatus>(&frame->payload))
        failure_ = failure_of(*status);
      return stop(End::kError);
    case wire::WatchType::kUnknown:
      return true;
  }
  return true;
}

bool WatchSession::on_object(wire::WatchFrame& frame) {
  auto* object = std::get_if<wire::KubeObject>(&frame.payload);
  if (object == nullptr) {
    failure_.code = ErrorCode::kDataLoss;
    failure_.message = "a frame without an object";
    return stop(End::kBadFrame);
  }
  if (!advance(frame.resource_version)) return stop(End::kVersionRegressed);
  if (frame.type == wire::WatchType::kDeleted) {
    cache_.remove(*object);
  } else {
    cache_.upsert(std::move(*object));
  }
  return true;
}

bool WatchSession::on_bookmark(const wire::WatchFrame& frame) {
  if (mode_ == Mode::kInitialEvents) {
    // An ordinary bookmark before the end mark: this server ignored sendInitialEvents.
    if (frame.resource_version.empty()) return true;
    if (!frame.initial_events_end) return stop(End::kNotStreaming);
    cache_.finish_relist(kind_);
    mode_ = Mode::kWatch;
    resource_version_ = frame.resource_version;
    return true;
  }
  return advance(frame.resource_version) || stop(End::kVersionRegressed);
}

// False if the version lies before the present one. Initial events come in any order.
bool WatchSession::advance(const std::string& version) {
  if (mode_ == Mode::kInitialEvents || version.empty()) return true;
  if (is_older(version, resource_version_)) return false;
  resource_version_ = version;
  return true;
}

}  // namespace slackline::cluster
