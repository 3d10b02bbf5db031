// CopyService: what `serve` runs to take what another replica knows, where it begins with nothing:
// the portraits and the runs that have ended, over REST, in the background. Nothing waits for it.
#pragma once

#include <cstddef>
#include <memory>

#include "client/client.h"
#include "config/configuration.h"
#include "control/portrait/portrait_query.h"
#include "control/portrait/portraits.h"
#include "slackline/base/result.h"
#include "slackline/base/worker.h"
#include "store/journal.h"

namespace slackline::cli {

class CopyService {
 public:
  // Null where there are portraits and history, or nobody to ask. All but `known` outlive it.
  static std::unique_ptr<CopyService> make(const config::CopySettings& from,
                                           const control::Portraits& known,
                                           control::PortraitQuery& portraits,
                                           store::Journal& journal);

  // Asks at once, then every 15 s until there is something to take, for ten minutes.
  void start();
  void stop();

 private:
  CopyService(const config::CopySettings& from, control::PortraitQuery& portraits,
              store::Journal& journal)
      : from_(from), portraits_(portraits), journal_(journal) {}

  void try_once(bool tell);
  Result<client::Client> connect() const;
  // How many were taken. kNotFound: the other replica has none.
  Result<std::size_t> copy_portraits(client::Client& client);
  Result<std::size_t> copy_history(client::Client& client);

  const config::CopySettings from_;
  control::PortraitQuery& portraits_;
  store::Journal& journal_;
  bool needs_portraits_ = false;
  bool needs_history_ = false;
  Worker worker_;
};

}  // namespace slackline::cli
