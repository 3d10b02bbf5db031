// CopyService: what `serve` runs to take what another replica knows, where it begins with nothing:
// the portraits, over REST, in the background. Nothing waits for it.
#pragma once

#include <memory>

#include "config/configuration.h"
#include "control/portrait/portrait_query.h"
#include "control/portrait/portraits.h"
#include "slackline/base/result.h"
#include "slackline/base/worker.h"

namespace slackline::cli {

class CopyService {
 public:
  // Null where there are portraits, or nobody to ask. `to` outlives it.
  static std::unique_ptr<CopyService> make(const config::CopySettings& from,
                                           const control::Portraits& known,
                                           control::PortraitQuery& to);

  // Asks at once, then every 15 s until there is something to take, for ten minutes.
  void start();
  void stop();

 private:
  CopyService(const config::CopySettings& from, control::PortraitQuery& to)
      : from_(from), to_(to) {}

  // How many were taken.
  Result<std::size_t> copy();

  const config::CopySettings from_;
  control::PortraitQuery& to_;
  Worker worker_;
};

}  // namespace slackline::cli
