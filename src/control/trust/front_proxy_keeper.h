// FrontProxyKeeper: whom the listener of the aggregated API believes. It reads how the API server's
// front proxy shows that it is itself, at the start and once a minute, and keeps its authority in a
// file that the listener watches (http/server/tls.h).
//
// While that is not known, the file holds an authority whose key nobody has: every handshake fails,
// and the daemon goes on.
//
// Thread-safety: start() and stop() from one thread; one thread of its own between them.
#pragma once

#include <functional>
#include <string>

#include "control/trust/certificate_maker.h"
#include "message/front_proxy.h"
#include "obs/said_once.h"
#include "slackline/base/clock.h"
#include "slackline/base/published.h"
#include "slackline/base/result.h"
#include "slackline/base/worker.h"

namespace slackline::control {

class FrontProxyKeeper {
 public:
  using Read = std::function<Result<FrontProxy>()>;

  // `file`: PEM. `known` outlives it.
  FrontProxyKeeper(Read read, std::string file, Published<FrontProxy>& known)
      : read_(std::move(read)), file_(std::move(file)), known_(known) {}

  // The file is there when it returns. Fails only where it cannot be written.
  Status start(const CertificateMaker& maker, const Clock& clock);
  void stop();  // waits for a look under way

  // One look, as the thread takes it; the error is what it logs. What was known stays.
  Status look();

 private:
  void look_and_log();

  const Read read_;
  const std::string file_;
  Published<FrontProxy>& known_;
  obs::SaidOnce failures_;

  Worker worker_;  // last: its thread ends first
};

}  // namespace slackline::control
