// Daemon: all parts of `slackline serve`, put together in the order in which they need each other.
//
// start() returns when every listener is open; the cache fills behind it (readyz says when). stop()
// drains: unready first, then no new connections, then the calls in flight, then the watch, then
// the journal.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "config/configuration.h"
#include "slackline/base/result.h"

namespace slackline::cli {

// Where the configuration came from, to be read again when it changes. No file: never.
struct ConfigurationSource {
  std::string file;
  std::function<Result<config::Configuration>()> read;
};

class Daemon {
 public:
  static Result<std::unique_ptr<Daemon>> start(const config::Configuration& configuration,
                                               ConfigurationSource again);
  ~Daemon();

  // Reads configuration and dump again, soon, changed or not; certificates are looked at by
  // themselves. What cannot be taken is logged, and the old stays.
  void reload();
  // `grace_s`: how long listeners stay open after readyz turned 503.
  void stop(double grace_s);

 private:
  struct Parts;
  explicit Daemon(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace slackline::cli
