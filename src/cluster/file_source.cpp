#include "cluster/file_source.h"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>
#include <utility>

#include "cluster/cache.h"
#include "cluster/cache_metrics.h"
#include "obs/log.h"
#include "slackline/base/text.h"
#include "slackline/base/worker.h"
#include "wire/kube_decode.h"
#include "wire/yaml.h"

namespace slackline::cluster {
namespace {

constexpr std::uintmax_t kMaxDumpBytes = std::uintmax_t{2} << 30;

// What tells one content of the file from the next.
struct FileStamp {
  std::filesystem::file_time_type modified;
  std::uintmax_t size = 0;
  friend bool operator==(const FileStamp&, const FileStamp&) = default;
};

Result<FileStamp> stamp_of(const std::string& path) {
  std::error_code error;
  FileStamp stamp;
  stamp.modified = std::filesystem::last_write_time(path, error);
  if (!error) stamp.size = std::filesystem::file_size(path, error);
  if (error) return fail(ErrorCode::kNotFound, format("{}: {}", path, error.message()));
  if (stamp.size > kMaxDumpBytes)
    return fail(ErrorCode::kResourceExhausted, format("{}: larger than 2 GiB", path));
  return stamp;
}

Result<std::string> read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream content;
  content << in.rdbuf();
  if (!in) return fail(ErrorCode::kNotFound, format("{}: cannot be read", path));
  return std::move(content).str();
}

class FileSource final : public ClusterSource {
 public:
  FileSource(FileOptions options, GpuCatalog catalog, obs::MetricsRegistry& metrics,
             ClusterObserver* observer, const Clock& clock)
      : options_(std::move(options)),
        decoder_(std::move(catalog)),
        cache_(clock, observer),
        metrics_(metrics) {}

  Status start() override {
    SLACKLINE_ASSIGN(stamp_, stamp_of(options_.path));
    SLACKLINE_TRY(load());
    worker_.start([this] { follow(); });
    return {};
  }

  void stop() override { worker_.stop(); }
  void join() override { worker_.join(); }

  SnapshotPtr snapshot() const override { return cache_.snapshot(); }

  // A file does not age: what it says counts until it says something else.
  CacheHealth health() const override {
    MutexLock lock(mutex_);
    return {.synced = cache_.synced(), .age_s = 0, .stale = false, .detail = problem_};
  }

 private:
  void follow();
  // Logs a new problem once; an empty text means that all is well.
  void note_problem(const std::string& problem);
  // All or nothing: the cache is touched only after the whole dump was read.
  Status load();

  const FileOptions options_;
  wire::KubeDecoder decoder_;
  Cache cache_;
  const CacheMetrics metrics_;
  FileStamp stamp_;  // of the last content tried, good or not

  mutable Mutex mutex_;
  std::string problem_ SLACKLINE_GUARDED_BY(mutex_);

  Worker worker_;  // last: its thread ends first
};

void FileSource::follow() {
  while (worker_.wait(options_.poll_s)) {
    const auto stamp = stamp_of(options_.path);
    if (!stamp) {
      note_problem(stamp.error().message);
      stamp_ = {};  // so that it is read when it comes back, whatever its time
      continue;
    }
    if (*stamp == stamp_) continue;
    stamp_ = *stamp;
    const Status loaded = load();
    note_problem(loaded ? "" : loaded.error().message);
  }
}

void FileSource::note_problem(const std::string& problem) {
  {
    MutexLock lock(mutex_);
    if (problem == problem_) return;
    problem_ = problem;
  }
  if (!problem.empty())
    obs::log_error("cluster_file_unreadable", {{"error", problem}, {"kept", "last good snapshot"}});
}

Status FileSource::load() {
  SLACKLINE_ASSIGN(std::string text, read_file(options_.path));
  if (const auto first = trim(text); first.empty() || first.front() != '{') {
    auto json = wire::yaml_to_json(text);
    if (!json) return fail(json.error().with_context(options_.path));
    text = *std::move(json);
  }
  auto dump = decoder_.dump(text);
  if (!dump) return fail(dump.error().with_context(options_.path));
  for (const ResourceSpec& resource : kResources)
    cache_.begin_relist(resource.kind);
  for (wire::KubeObject& object : dump->items)
    cache_.upsert(std::move(object));
  for (const ResourceSpec& resource : kResources)
    cache_.finish_relist(resource.kind);
  const SnapshotPtr snapshot = cache_.publish();
  metrics_.update(cache_, 0);
  obs::log_info("cluster_file_loaded",
                {{"path", options_.path},
                 {"nodes", static_cast<std::int64_t>(snapshot->nodes.size())},
                 {"pods", static_cast<std::int64_t>(cache_.count(wire::KubeKind::kPod))},
                 {"jobs", static_cast<std::int64_t>(snapshot->jobs.size())},
                 {"skipped", static_cast<std::int64_t>(dump->skipped)}});
  return {};
}

}  // namespace

std::unique_ptr<ClusterSource> make_file_source(FileOptions options, GpuCatalog catalog,
                                                obs::MetricsRegistry& metrics,
                                                ClusterObserver* observer, const Clock& clock) {
  return std::make_unique<FileSource>(std::move(options), std::move(catalog), metrics, observer,
                                      clock);
}

}  // namespace slackline::cluster
