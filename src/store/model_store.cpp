#include "store/model_store.h"

#include <set>
#include <utility>

#include "slackline/base/text.h"
#include "wire/samples/profile_codec.h"

namespace slackline::store {
namespace {

constexpr const char* kCreateModels = R"sql(
CREATE TABLE samples(
  id INTEGER PRIMARY KEY,
  model TEXT NOT NULL,
  gpu_type TEXT NOT NULL,
  batch REAL NOT NULL,
  layout TEXT NOT NULL,
  throughput_samples_per_s REAL NOT NULL,
  source TEXT NOT NULL,
  origin TEXT NOT NULL,
  time_s REAL NOT NULL
);
CREATE INDEX samples_by_pair ON samples(model, gpu_type);
CREATE TABLE descriptors(
  model TEXT PRIMARY KEY,
  family TEXT NOT NULL,
  parameters REAL,
  flops_per_sample REAL,
  description TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE fits(
  model TEXT NOT NULL,
  gpu_type TEXT NOT NULL,
  version INTEGER NOT NULL,
  fitted_s REAL NOT NULL,
  profile TEXT NOT NULL,
  PRIMARY KEY(model, gpu_type)
) WITHOUT ROWID;
)sql";

// The run that a sample comes from: NULL where none is known.
constexpr const char* kNameRuns =
    "ALTER TABLE samples ADD COLUMN run TEXT;"
    "CREATE UNIQUE INDEX samples_by_run ON samples(run);";

constexpr const char* kNameReplicas =
    "ALTER TABLE samples ADD COLUMN model_parallel INTEGER NOT NULL DEFAULT 0;";

// The namespace of its Job. Samples of runs that are there already say it in their source, as
// "Job NAMESPACE/NAME".
constexpr const char* kNameNamespaces =
    "ALTER TABLE samples ADD COLUMN ns TEXT NOT NULL DEFAULT '';"
    "UPDATE samples SET ns = substr(source, 5, instr(source, '/') - 5) "
    "WHERE origin <> 'import' AND source LIKE 'Job _%/%';";

constexpr std::string_view kInsertSample =
    "INSERT INTO samples(model, gpu_type, batch, layout, throughput_samples_per_s, source, origin,"
    " time_s, run, model_parallel, ns) VALUES(?,?,?,?,?,?,?,?,NULLIF(?,''),?,?) ON CONFLICT(run) "
    "DO NOTHING";

constexpr std::string_view kForgetOldest =
    "DELETE FROM samples WHERE model = ?1 AND gpu_type = ?2 AND id <= (SELECT id FROM samples "
    "WHERE model = ?1 AND gpu_type = ?2 ORDER BY id DESC LIMIT 1 OFFSET ?3)";

constexpr std::string_view kForgetOldestOfNamespace =
    "DELETE FROM samples WHERE model = ?1 AND gpu_type = ?2 AND ns = ?4 AND id <= (SELECT id FROM "
    "samples WHERE model = ?1 AND gpu_type = ?2 AND ns = ?4 ORDER BY id DESC LIMIT 1 OFFSET ?3)";

constexpr std::string_view kPutFit =
    "INSERT INTO fits(model, gpu_type, version, fitted_s, profile) VALUES(?,?,1,?,?) "
    "ON CONFLICT(model, gpu_type) DO UPDATE SET version = version + 1, "
    "fitted_s = excluded.fitted_s, profile = excluded.profile";

SampleOrigin origin_of(std::string_view text) {
  for (const SampleOrigin origin : {SampleOrigin::kCalibration, SampleOrigin::kRun})
    if (to_string(origin) == text) return origin;
  return SampleOrigin::kImport;
}

Result<std::int64_t> insert_samples(Database& database,
                                    const std::vector<ThroughputSample>& samples, double now_s) {
  SLACKLINE_ASSIGN(Statement insert, database.prepare(kInsertSample));
  std::int64_t added = 0;
  std::set<ModelKey> touched;
  std::set<std::pair<ModelKey, std::string>> taught;  // by Jobs of a namespace
  for (const ThroughputSample& sample : samples) {
    insert.bind_all(sample.model, sample.gpu_type.str(), sample.batch, sample.layout.str(),
                    sample.throughput_samples_per_s, sample.source, to_string(sample.origin), now_s,
                    sample.run.str(), std::int64_t{sample.model_parallel}, sample.ns);
    SLACKLINE_TRY(insert.run());
    SLACKLINE_ASSIGN(const std::int64_t rows, database.query_integer("SELECT changes()"));
    added += rows;
    const ModelKey key{sample.model, sample.gpu_type};
    touched.insert(key);
    if (!sample.ns.empty()) taught.emplace(key, sample.ns);
  }
  SLACKLINE_ASSIGN(Statement forget_own, database.prepare(kForgetOldestOfNamespace));
  for (const auto& [key, ns] : taught)
    SLACKLINE_TRY(
        forget_own.bind_all(key.model, key.gpu_type.str(), kMaxSamplesOfNamespace, ns).run());
  SLACKLINE_ASSIGN(Statement forget, database.prepare(kForgetOldest));
  for (const ModelKey& key : touched)
    SLACKLINE_TRY(forget.bind_all(key.model, key.gpu_type.str(), kMaxSamplesPerPair).run());
  return added;
}

Status insert_descriptor(Database& database, const ModelDescriptor& descriptor) {
  SLACKLINE_ASSIGN(Statement put,
                   database.prepare("INSERT OR REPLACE INTO descriptors VALUES(?,?,?,?,?)"));
  put.bind(1, descriptor.model).bind(2, descriptor.family).bind(5, descriptor.description);
  if (descriptor.parameters) put.bind(3, *descriptor.parameters);
  if (descriptor.flops_per_sample) put.bind(4, *descriptor.flops_per_sample);
  return put.run();
}

Status forget_model(Database& database, const std::string& model, bool& found) {
  for (const char* table : {"samples", "descriptors", "fits"}) {
    SLACKLINE_ASSIGN(Statement forget,
                     database.prepare(format("DELETE FROM {} WHERE model = ?", table)));
    SLACKLINE_TRY(forget.bind_all(model).run());
    SLACKLINE_ASSIGN(const std::int64_t gone, database.query_integer("SELECT changes()"));
    found = found || gone > 0;
  }
  return {};
}

}  // namespace

Result<ModelStore> ModelStore::open(const std::string& path, double busy_timeout_s) {
  DatabaseOptions options;
  options.path = path;
  options.migrations = {kCreateModels, kNameRuns, kNameReplicas, kNameNamespaces};
  options.busy_timeout_s = busy_timeout_s;
  options.application_id = kModelFile;
  options.probes = {
      "SELECT id, model, gpu_type, batch, layout, throughput_samples_per_s, source, origin, "
      "time_s, "
      "run, model_parallel, ns FROM samples",
      "SELECT model, family, parameters, flops_per_sample, description FROM descriptors",
      "SELECT model, gpu_type, version, fitted_s, profile FROM fits", "SELECT value FROM revision"};
  SLACKLINE_ASSIGN(KeptDatabase database, KeptDatabase::open(std::move(options), "model_store"));
  return ModelStore(std::move(database));
}

Result<std::int64_t> ModelStore::add_samples(const std::vector<ThroughputSample>& samples,
                                             double now_s) {
  std::int64_t added = 0;
  SLACKLINE_TRY(database_.write([&](Database& database) -> Status {
    SLACKLINE_ASSIGN(added, insert_samples(database, samples, now_s));
    return {};
  }));
  return added;
}

Status ModelStore::put_descriptor(const ModelDescriptor& descriptor) {
  return database_.write(
      [&](Database& database) { return insert_descriptor(database, descriptor); });
}

Result<FitRecord> ModelStore::put_fit(const ProfileEntry& entry, double now_s) {
  const std::string profile = wire::write_profile({entry});
  SLACKLINE_TRY(database_.write([&](Database& database) -> Status {
    SLACKLINE_ASSIGN(Statement put, database.prepare(kPutFit));
    return put.bind_all(entry.model, entry.gpu_type.str(), now_s, profile).run();
  }));
  SLACKLINE_ASSIGN(
      Statement query,
      database_.primary().prepare("SELECT version FROM fits WHERE model = ? AND gpu_type = ?"));
  SLACKLINE_ASSIGN(const bool found, query.bind_all(entry.model, entry.gpu_type.str()).step());
  return FitRecord{entry, found ? query.integer(0) : 0, now_s};
}

Result<bool> ModelStore::forget(const std::string& model) {
  bool found = false;
  SLACKLINE_TRY(
      database_.write([&](Database& database) { return forget_model(database, model, found); }));
  return found;
}

void ModelStore::leave_out(const std::string& row, const Error& why) {
  unreadable_.push_back(why.with_context(row));
}

std::vector<Error> ModelStore::take_unreadable() {
  return std::exchange(unreadable_, {});
}

Result<std::vector<ThroughputSample>> ModelStore::samples(const ModelKey& key) {
  if (!database_.is_open()) return {};
  SLACKLINE_ASSIGN(
      Statement query,
      database_.primary().prepare(
          "SELECT batch, layout, throughput_samples_per_s, source, origin, "
          "model_parallel, run, id, ns FROM samples WHERE model = ? AND gpu_type = ? ORDER BY id"));
  query.bind_all(key.model, key.gpu_type.str());
  std::vector<ThroughputSample> samples;
  SLACKLINE_TRY(each_row(query, [&](const Statement& row) -> Status {
    Result<Layout> layout = parse_layout(row.text(1));
    if (!layout) {
      leave_out(format("sample {}", row.integer(7)), layout.error());
      return {};
    }
    samples.push_back({key.model, key.gpu_type, row.real(0), *std::move(layout), row.real(2),
                       row.text(3), origin_of(row.text(4)), static_cast<int>(row.integer(5)),
                       row.is_null(6) ? Uid() : Uid(row.text(6)), row.text(8)});
    return {};
  }));
  return samples;
}

Result<std::vector<std::pair<ModelKey, std::int64_t>>> ModelStore::pairs() {
  if (!database_.is_open()) return {};
  SLACKLINE_ASSIGN(Statement query, database_.primary().prepare(
                                        "SELECT model, gpu_type, count(*) FROM samples "
                                        "GROUP BY model, gpu_type ORDER BY model, gpu_type"));
  std::vector<std::pair<ModelKey, std::int64_t>> pairs;
  SLACKLINE_TRY(each_row(query, [&](const Statement& row) -> Status {
    pairs.emplace_back(ModelKey{row.text(0), GpuType(row.text(1))}, row.integer(2));
    return {};
  }));
  return pairs;
}

Result<std::vector<ModelDescriptor>> ModelStore::descriptors() {
  if (!database_.is_open()) return {};
  SLACKLINE_ASSIGN(Statement query,
                   database_.primary().prepare("SELECT model, family, parameters, "
                                               "flops_per_sample, description FROM descriptors"));
  std::vector<ModelDescriptor> descriptors;
  SLACKLINE_TRY(each_row(query, [&](const Statement& row) -> Status {
    ModelDescriptor descriptor{row.text(0), row.text(1), {}, {}, row.text(4)};
    if (!row.is_null(2)) descriptor.parameters = row.real(2);
    if (!row.is_null(3)) descriptor.flops_per_sample = row.real(3);
    descriptors.push_back(std::move(descriptor));
    return {};
  }));
  return descriptors;
}

Result<std::vector<FitRecord>> ModelStore::fits() {
  if (!database_.is_open()) return {};
  SLACKLINE_ASSIGN(
      Statement query,
      database_.primary().prepare(
          "SELECT version, fitted_s, profile, model, gpu_type FROM fits ORDER BY model, gpu_type"));
  std::vector<FitRecord> fits;
  SLACKLINE_TRY(each_row(query, [&](const Statement& row) -> Status {
    auto entries = wire::read_profile(row.text(2), "the model database");
    if (!entries) {
      leave_out(printable(format("the fit of {} on {}", row.text(3), row.text(4)), 128),
                entries.error());
      return {};
    }
    for (ProfileEntry& entry : *entries)
      fits.push_back({std::move(entry), row.integer(0), row.real(1)});
    return {};
  }));
  return fits;
}

}  // namespace slackline::store
