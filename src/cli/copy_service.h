// CopyService: what `serve` runs to take what another replica knows, where it begins with nothing:
// portraits, the runs that have ended, what models have learnt and the newest decisions, over REST,
// in the background. Nothing waits for it.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "client/client.h"
#include "config/configuration.h"
#include "control/learn/models.h"
#include "control/portrait/portrait_query.h"
#include "control/portrait/portraits.h"
#include "slackline/base/result.h"
#include "slackline/base/worker.h"
#include "store/journal.h"

namespace slackline::cli {

class CopyService {
 public:
  // Where it is put; all outlive the service.
  struct Stores {
    const control::Portraits& known;
    control::PortraitQuery& portraits;
    store::Journal& journal;
    control::Models& models;
  };
  // Null where none of them is empty, or nobody is to be asked.
  static std::unique_ptr<CopyService> make(const config::CopySettings& from, const Stores& stores);

  // Asks at once, then every 15 s until there is something to take, for ten minutes.
  void start();
  void stop();

 private:
  // What is still to be taken.
  struct Part {
    std::string_view what;
    // How many were taken. kNotFound: the other replica has none.
    Result<std::size_t> (CopyService::*copy)(client::Client& client);
  };

  // Stores what a part of a list has: how many.
  using TakePage = std::function<Result<std::size_t>(std::string_view json)>;

  CopyService(const config::CopySettings& from, const Stores& stores);

  void try_once(int attempt);
  Result<client::Client> connect() const;
  Result<std::size_t> copy_portraits(client::Client& client);
  Result<std::size_t> copy_history(client::Client& client);
  Result<std::size_t> copy_models(client::Client& client);
  Status copy_model(client::Client& client, const ModelDescriptor& descriptor, bool has_samples);
  void leave_out_known(std::vector<ThroughputSample>& samples);
  Result<std::size_t> copy_decisions(client::Client& client);
  Result<std::size_t> copy_pages(client::Client& client, const std::string& path, std::size_t most,
                                 const TakePage& take);

  const config::CopySettings from_;
  const Stores stores_;
  std::vector<Part> missing_;
  std::set<std::string> copied_models_;
  Worker worker_;
};

}  // namespace slackline::cli
