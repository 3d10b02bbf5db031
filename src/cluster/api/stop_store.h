// StopStore: the ConfigMap that keeps the stops that somebody pays for. Every write carries a
// precondition.
//
// Thread-safe.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "slackline/base/result.h"
#include "slackline/model/booked_stop.h"
#include "slackline/model/ids.h"

namespace slackline::cluster {

class ApiClient;

struct StoredStops {
  std::vector<BookedStop> stops;
  std::string resource_version;
  std::size_t unreadable = 0;  // entries, which are left out
};

class StopStore {
 public:
  virtual ~StopStore() = default;
  // nullopt: there is no ConfigMap yet.
  virtual Result<std::optional<StoredStops>> read() = 0;
  // An empty resource_version: it is created. Returns the new one. kConflict: another replica has
  // written it; read again.
  virtual Result<std::string> write(const StoredStops& stops) = 0;
};

// `client` outlives it.
std::unique_ptr<StopStore> make_stop_store(ApiClient& client, ObjectKey config_map);

}  // namespace slackline::cluster
