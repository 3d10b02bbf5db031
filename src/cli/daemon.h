// Daemon: all parts of `slackline serve`, put together in the order in which they need each other.
//
// start() returns when every listener is open; the cache fills behind it (readyz says when). stop()
// drains: unready first, then no new connections, then the calls in flight, then the watch, then
// the journal.
#pragma once

#include <memory>

#include "config/configuration.h"
#include "slackline/base/result.h"

namespace slackline::cli {

class Daemon {
 public:
  static Result<std::unique_ptr<Daemon>> start(const config::Configuration& configuration);
  ~Daemon();

  // `grace_s`: how long listeners stay open after readyz turned 503.
  void stop(double grace_s);

 private:
  struct Parts;
  explicit Daemon(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace slackline::cli
