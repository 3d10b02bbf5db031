// ModelStore: the model database in SQLite: throughput samples, descriptors, fitted coefficients.
//
// Everything that a call has acknowledged is on disk twice (mirrored_database.h): a damaged file
// loses nothing. Readers of the file elsewhere never wait (WAL). A file that is damaged or deleted
// at run time is restored from its twin, and the call is repeated. If the disk refuses the file at
// the start, the store is closed: reads find nothing, writes try to open it and report why they
// cannot.
//
// Threads: one at a time. Errors as in database.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "slackline/base/result.h"
#include "slackline/model/model_record.h"
#include "slackline/model/sample.h"
#include "store/kept_database.h"

namespace slackline::store {

// For one (model, GPU type); older ones are deleted.
inline constexpr std::int64_t kMaxSamplesPerPair = 5000;
// Of them, of Jobs of one namespace: nobody's runs displace those of all others.
inline constexpr std::int64_t kMaxSamplesOfNamespace = kMaxSamplesPerPair / 8;

struct ModelKey {
  std::string model;
  GpuType gpu_type;
  friend auto operator<=>(const ModelKey&, const ModelKey&) = default;
};

class ModelStore {
 public:
  // Errors: a newer schema or another program's file (left untouched), no folder, another daemon on
  // the same file.
  static Result<ModelStore> open(const std::string& path, double busy_timeout_s = 5);

  // Why it is closed; empty while it is open.
  const std::string& closed() const { return database_.closed(); }
  // Opens it again: closed before, or damaged.
  Status reopen() { return database_.reopen(); }

  // All or none, but for those of a run that has one already: these are left out. How many were
  // added.
  Result<std::int64_t> add_samples(const std::vector<ThroughputSample>& samples, double now_s);
  Status put_descriptor(const ModelDescriptor& descriptor);
  // The record with the version it got.
  Result<FitRecord> put_fit(const ProfileEntry& entry, double now_s);

  // These leave out damaged rows, which take_unreadable() names. Samples: in the order in which
  // they came.
  Result<std::vector<ThroughputSample>> samples(const ModelKey& key);
  // Every pair that has samples, with their number; sorted.
  Result<std::vector<std::pair<ModelKey, std::int64_t>>> pairs();
  Result<std::vector<ModelDescriptor>> descriptors();  // by model
  Result<std::vector<FitRecord>> fits();               // by (model, GPU type)
  std::vector<Error> take_unreadable();                // since it was last called

  // Deletes everything about a model, samples included; false if there was nothing.
  Result<bool> forget(const std::string& model);

  const StoreDamage& damage() const { return database_.damage(); }

 private:
  explicit ModelStore(KeptDatabase database) : database_(std::move(database)) {}

  void leave_out(const std::string& row, const Error& why);

  KeptDatabase database_;
  std::vector<Error> unreadable_;
};

}  // namespace slackline::store
