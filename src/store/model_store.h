// ModelStore: the model database in SQLite: throughput samples, descriptors, fitted coefficients.
//
// What a call has acknowledged is on disk twice (mirrored_database.h): a damaged file loses
// nothing. Readers of the file elsewhere never wait (WAL). A file that is damaged or deleted at run
// time is made anew from its twin and the call repeated.
//
// Threads: one at a time. Errors as in database.h.
#pragma once

#include <string>
#include <vector>

#include "slackline/base/result.h"
#include "slackline/model/model_record.h"
#include "slackline/model/sample.h"
#include "store/mirrored_database.h"

namespace slackline::store {

// Of one (model, GPU type); older ones are forgotten.
inline constexpr std::int64_t kMaxSamplesPerPair = 5000;

// Damage that was met since open(), by whether the twin of the damaged file had everything.
struct StoreDamage {
  int restored = 0;
  int lost = 0;
  std::string moved_to;  // where the lost ones lie now: "a.damaged-1, b.damaged-1"
};

struct ModelKey {
  std::string model;
  GpuType gpu_type;
  friend auto operator<=>(const ModelKey&, const ModelKey&) = default;
};

class ModelStore {
 public:
  static Result<ModelStore> open(const std::string& path, double busy_timeout_s = 5);

  // All or none.
  Status add_samples(const std::vector<ThroughputSample>& samples, double now_s);
  // The sample of a finished run; false, and nothing changes, where that run has one already.
  Result<bool> add_run(const ThroughputSample& sample, const Uid& run, double now_s);
  Status put_descriptor(const ModelDescriptor& descriptor);
  // The record with the version it got.
  Result<FitRecord> put_fit(const ProfileEntry& entry, double now_s);

  // In the order in which they came.
  Result<std::vector<ThroughputSample>> samples(const ModelKey& key);
  // Every pair that has samples, with their number; sorted.
  Result<std::vector<std::pair<ModelKey, std::int64_t>>> pairs();
  Result<std::vector<ModelDescriptor>> descriptors();  // by model
  Result<std::vector<FitRecord>> fits();               // by (model, GPU type)

  const StoreDamage& damage() const { return damage_; }

 private:
  ModelStore(DatabaseOptions options, MirroredDatabase database)
      : options_(std::move(options)), database_(std::move(database)) {}
  Status write(const std::function<Status(Database&)>& change);
  Status reopen();

  DatabaseOptions options_;
  MirroredDatabase database_;
  StoreDamage damage_;
};

}  // namespace slackline::store
