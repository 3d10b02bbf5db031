// GangReader: asks the API server for the objects whose controllers make the gangs that wait, and
// for those that own these: how many pods there will be, at once and later, and which clocks run
// meanwhile (docs/GANGS.md). Gangs that are new are read at once, the others again every ten
// seconds, after an error every second: at most kMostAgain at a time, who waited longest first.
// What may not be read is not known; a gang waits only until it was asked for once.
//
// Thread-safety: start() once, then stop() and join().
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cluster/api/object_client.h"
#include "cluster/watch/cache.h"
#include "slackline/base/clock.h"
#include "slackline/base/result.h"
#include "slackline/base/worker.h"
#include "wire/gangs/gang_object.h"
#include "wire/kube/kube_decode.h"

namespace slackline::cluster {

class ApiClient;

class GangReader {
 public:
  // All outlive it.
  GangReader(ApiClient& client, Cache& cache, const GpuCatalog& catalog, const Clock& clock);

  void start();
  void stop() { worker_.stop(); }
  void join() { worker_.join(); }

 private:
  struct Waiting {
    std::string ns;
    wire::GangObjectRef ref;
  };
  struct Known {
    GangSpec spec;
    double due_s = 0;  // steady; read again then
  };

  void look();
  // Those of `snapshot`, by uid of the object.
  static std::map<Uid, Waiting> waiting_of(const ClusterSnapshot& snapshot);
  std::vector<Uid> to_read(const std::map<Uid, Waiting>& waiting) const;
  // Error: the server did not answer; what was read before still counts.
  Result<GangSpec> read(const Waiting& gang);
  // nullopt: it is of no kind that is read, may not be read, or is another one by now.
  Result<std::optional<wire::GangObject>> read_one(const std::string& ns,
                                                   const wire::GangObjectRef& ref);
  void note_unreadable(const std::string& kind, const Error& error);
  void publish();

  ObjectClient client_;
  Cache& cache_;
  const Clock& clock_;
  wire::KubeDecoder decoder_;
  std::map<Uid, Known> known_;
  std::set<std::string> unreadable_;  // kinds that a log line named
  Worker worker_;                     // last: its thread ends first
};

}  // namespace slackline::cluster
