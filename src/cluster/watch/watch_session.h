// WatchSession: applies the lines of one watch to the cache. No I/O.
//
// A streaming list (kInitialEvents) is a relist made of ADDED frames, complete at the bookmark that
// is annotated k8s.io/initial-events-end; from there it is an ordinary watch. The resourceVersion
// moves only on valid frames of an ordinary watch. Frames of unknown type are ignored. A frame that
// cannot be read ends the session; a resourceVersion that goes backwards means that the server's
// history was replaced (restored from a backup), and only a new list is right (F20).
//
// Thread-safety: none; it belongs to its reflector's thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cluster/api/api_client.h"
#include "cluster/watch/cache.h"
#include "wire/kube/kube_decode.h"

namespace slackline::cluster {

class WatchSession {
 public:
  enum class Mode { kInitialEvents, kWatch };
  // Why the session ended before the stream did.
  enum class End { kError, kBadFrame, kVersionRegressed, kNotStreaming };

  // `resource_version` is where a kWatch starts.
  WatchSession(Cache& cache, wire::KubeDecoder& decoder, wire::KubeKind kind, Mode mode,
               std::string resource_version);

  // False ends the stream: then end() says why.
  bool on_line(std::string_view line);

  // True once the cache holds a complete list.
  bool listed() const { return mode_ == Mode::kWatch; }
  const std::string& resource_version() const { return resource_version_; }
  const std::optional<End>& end() const { return end_; }
  const ApiFailure& failure() const { return failure_; }  // with kError and kBadFrame

 private:
  bool stop(End end);
  bool on_object(wire::WatchFrame& frame);
  bool on_bookmark(const wire::WatchFrame& frame);
  bool advance(const std::string& version);

  Cache& cache_;
  wire::KubeDecoder& decoder_;
  const wire::KubeKind kind_;
  Mode mode_;
  std::string resource_version_;
  std::optional<End> end_;
  ApiFailure failure_;
};

}  // namespace slackline::cluster
