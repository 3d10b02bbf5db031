// Removal: what an uninstallation takes away that neither helm nor kubectl knows of, and how it
// keeps every replica from planning meanwhile. What is gone already is no error, so each step can
// be done again.
//
// Thread-safe.
#pragma once

#include <cstddef>
#include <string>

#include "cluster/api/object_client.h"
#include "slackline/base/clock.h"
#include "slackline/base/result.h"
#include "slackline/model/ids.h"
#include "slackline/model/pod.h"

namespace slackline::cluster {

// Pods of Slackline's daemons.
struct DaemonsLeft {
  std::size_t running = 0;  // nobody has told them to end yet
  std::size_t ending = 0;   // deleted; on a node that does not answer they stay so
};

class Removal {
 public:
  // The holder of the planner's Lease from then on, and for how long no replica takes it.
  static constexpr const char* kHolder = "slackline-release";
  static constexpr double kHeld_s = 3600;

  explicit Removal(ApiClient& api) : api_(api), client_(api) {}  // outlives it

  // Both configurations of this name: no new Job waits for Slackline.
  Status remove_webhooks(const std::string& configuration);
  // That of the aggregated API: while nobody answers for it, no namespace can be deleted.
  Status remove_api_service();
  // Whoever holds it stops planning with its next look, and nobody else begins.
  Status take_lease(const ObjectKey& lease, const Clock& clock);
  Status scale_to_zero(const ObjectKey& stateful_set);
  Result<DaemonsLeft> daemons_left(const std::string& ns);
  // Its controller makes another one. This pod, and no later one of its name.
  Status remove_pod(const Pod& pod);
  Status remove_lease(const ObjectKey& lease);
  Status remove_secret(const ObjectKey& secret);
  Status remove_config_map(const ObjectKey& config_map);

 private:
  Status remove(const Result<std::string>& path, const std::string& body = {});

  ApiClient& api_;
  ObjectClient client_;
};

}  // namespace slackline::cluster
