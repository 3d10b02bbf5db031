#include "cluster/watch/file_source.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <fstream>
#include <new>
#include <optional>
#include <sstream>
#include <system_error>
#include <utility>
#include <variant>

#include <sys/stat.h>

#include "cluster/watch/cache.h"
#include "cluster/watch/cache_metrics.h"
#include "obs/log.h"
#include "slackline/base/text.h"
#include "slackline/base/worker.h"
#include "wire/format/yaml.h"
#include "wire/kube/kube_decode.h"

namespace slackline::cluster {
namespace {

constexpr std::uint64_t kMaxDumpBytes = std::uint64_t{2} << 30;
// Short, because a shell loop may rewrite it every second or two.
constexpr double kSettle_s = 0.25;

// The fingerprint of the file's content, through all symlinks.
struct FileStamp {
  dev_t device = 0;
  ino_t inode = 0;
  std::uint64_t size = 0;
  std::int64_t modified_s = 0;
  std::int64_t modified_ns = 0;
  friend bool operator==(const FileStamp&, const FileStamp&) = default;
};

std::string reason_of(int code) {
  return std::generic_category().message(code);
}

Result<FileStamp> stamp_of(const std::string& path) {
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0)
    return fail(ErrorCode::kNotFound, format("{}: {}", path, reason_of(errno)));
  if (!S_ISREG(info.st_mode))
    return fail(ErrorCode::kInvalidArgument, format("{}: is not a regular file", path));
  const auto size = static_cast<std::uint64_t>(info.st_size);
  if (size > kMaxDumpBytes)
    return fail(ErrorCode::kResourceExhausted, format("{}: larger than 2 GiB", path));
  return FileStamp{info.st_dev, info.st_ino, size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec};
}

Status check_readable(const std::string& path) {
  errno = 0;
  if (std::ifstream(path, std::ios::binary)) return {};
  return fail(ErrorCode::kNotFound, format("{}: cannot be read: {}", path, reason_of(errno)));
}

Result<std::string> read_file(const std::string& path) {
  SLACKLINE_TRY(check_readable(path));
  const std::ifstream in(path, std::ios::binary);
  std::ostringstream content;
  content << in.rdbuf();
  return std::move(content).str();
}

std::size_t nodes_of(const wire::KubeList& dump) {
  return static_cast<std::size_t>(std::count_if(
      dump.items.begin(), dump.items.end(),
      [](const wire::KubeObject& object) { return std::holds_alternative<Node>(object); }));
}

// Remarks on a dump that was accepted; may be empty.
std::string remark_on(const wire::KubeList& dump) {
  if (dump.skipped > 0)
    return format("{} objects of the dump were left out: {}{}", dump.skipped,
                  join(dump.skipped_examples, "; "),
                  dump.skipped > dump.skipped_examples.size() ? "; ..." : "");
  if (!dump.items.empty() && nodes_of(dump) == 0)
    return "the dump names no Node: has `kubectl get nodes` been left out or refused?";
  return {};
}

class FileSource final : public ClusterSource {
 public:
  FileSource(FileOptions options, GpuCatalog catalog, obs::MetricsRegistry& metrics,
             ClusterObserver* observer, const Clock& clock)
      : options_(std::move(options)),
        decoder_(std::move(catalog)),
        cache_(clock, observer, nullptr, false, options_.schedulers),
        metrics_(metrics),
        broken_(metrics.gauge("slackline_cluster_file_broken")),
        skipped_(metrics.gauge("slackline_cluster_file_skipped_objects")) {}

  Status start() override {
    SLACKLINE_ASSIGN(const FileStamp stamp, stamp_of(options_.path));
    SLACKLINE_ASSIGN(const std::string text, read_file(options_.path));
    SLACKLINE_TRY(load(text));
    tried_ = stamp;
    worker_.start([this] { follow(); });
    return {};
  }

  void stop() override { worker_.stop(); }
  void join() override { worker_.join(); }

  SnapshotPtr snapshot() const override { return cache_.snapshot(); }

  // A file does not age: its content counts until it changes.
  CacheHealth health() const override {
    const bool synced = cache_.snapshot()->synced;
    MutexLock lock(mutex_);
    return {.synced = synced,
            .age_s = 0,
            .stale = false,
            .detail = problem_.empty() ? remark_ : problem_};
  }

  void reload() override { asked_ = true; }

 private:
  void follow();
  // Reads the file, whose stamp was seen twice; errors for lack of file descriptors or memory are
  // tried again at the next check.
  void take(const FileStamp& stamp);
  // Logs a new problem once; an empty text means that all is well.
  void note_problem(const std::string& problem);
  // All or nothing: the cache is touched only after the whole dump was read.
  Status load(const std::string& text);
  Result<wire::KubeList> decode(const std::string& text);
  void tell_loaded(const wire::KubeList& dump, const std::string& remark) const;

  const FileOptions options_;
  wire::KubeDecoder decoder_;
  Cache cache_;
  const CacheMetrics metrics_;
  const obs::Gauge broken_;
  const obs::Gauge skipped_;
  std::optional<FileStamp> tried_;  // of the last content that could be read, good or not
  std::atomic<bool> asked_{false};  // to read it again, changed or not

  mutable Mutex mutex_;
  std::string problem_ SLACKLINE_GUARDED_BY(mutex_);  // why the snapshot is not the file's
  std::string remark_ SLACKLINE_GUARDED_BY(mutex_);   // of what is served

  Worker worker_;  // last: its thread ends first
};

void FileSource::follow() {
  while (worker_.wait(options_.poll_s)) {
    const auto stamp = stamp_of(options_.path);
    if (!stamp) {
      note_problem(stamp.error().message);
      tried_.reset();  // so that it is read when it comes back, whatever its time
      continue;
    }
    if (tried_ == *stamp && !asked_) continue;
    // A slow writer is given time: half a dump may look like a whole one.
    if (!worker_.wait(std::min(kSettle_s, options_.poll_s))) return;
    const auto again = stamp_of(options_.path);
    if (!again || *again != *stamp) continue;
    asked_ = false;
    take(*stamp);
  }
}

void FileSource::take(const FileStamp& stamp) {
  try {
    const auto text = read_file(options_.path);
    if (!text) return note_problem(text.error().message);
    tried_ = stamp;
    const Status loaded = load(*text);
    note_problem(loaded ? "" : loaded.error().message);
  } catch (const std::bad_alloc&) {
    tried_.reset();
    note_problem(format("{}: there is not enough memory to read it", options_.path));
  }
}

void FileSource::note_problem(const std::string& problem) {
  broken_.set(problem.empty() ? 0 : 1);
  {
    MutexLock lock(mutex_);
    if (problem == problem_) return;
    problem_ = problem;
  }
  if (problem.empty())
    obs::log_info("cluster_file_readable_again", {{"path", options_.path}});
  else
    obs::log_error("cluster_file_unreadable", {{"error", problem}, {"kept", "last good snapshot"}});
}

Result<wire::KubeList> FileSource::decode(const std::string& text) {
  const auto first = trim(text);
  if (!first.empty() && first.front() == '{') return decoder_.dump(text);
  SLACKLINE_ASSIGN(const std::string json, wire::yaml_to_json(text));
  return decoder_.dump(json);
}

Status FileSource::load(const std::string& text) {
  auto dump = decode(text);
  if (!dump) return fail(dump.error().with_context(options_.path));
  // A cluster does not lose all its nodes between two checks, but a refused `kubectl get` prints
  // none.
  if (const std::size_t had = cache_.snapshot()->nodes.size(); had > 0 && nodes_of(*dump) == 0)
    return fail(ErrorCode::kInvalidArgument,
                format("{}: it names no Node any more, {} were there; if the cluster is empty now, "
                       "restart the daemon",
                       options_.path, had));
  for (const ResourceSpec& resource : kResources)
    cache_.begin_relist(resource.kind);
  for (wire::KubeObject& object : dump->items)
    cache_.upsert(std::move(object));
  for (const ResourceSpec& resource : kResources)
    cache_.finish_relist(resource.kind);
  static_cast<void>(cache_.publish());
  metrics_.update(cache_, 0);
  std::string remark = remark_on(*dump);
  tell_loaded(*dump, remark);
  MutexLock lock(mutex_);
  remark_ = std::move(remark);
  return {};
}

void FileSource::tell_loaded(const wire::KubeList& dump, const std::string& remark) const {
  skipped_.set(static_cast<double>(dump.skipped));
  const SnapshotPtr snapshot = cache_.snapshot();
  obs::log_info("cluster_file_loaded",
                {{"path", options_.path},
                 {"nodes", static_cast<std::int64_t>(snapshot->nodes.size())},
                 {"pods", static_cast<std::int64_t>(cache_.count(wire::KubeKind::kPod))},
                 {"jobs", static_cast<std::int64_t>(snapshot->jobs.size())},
                 {"skipped", static_cast<std::int64_t>(dump.skipped)}});
  if (!remark.empty())
    obs::log_warning("cluster_file_remark", {{"path", options_.path}, {"remark", remark}});
}

}  // namespace

Status check_dump(const std::string& path) {
  if (const auto stamp = stamp_of(path); !stamp) return fail(stamp.error());
  return check_readable(path);
}

std::unique_ptr<ClusterSource> make_file_source(FileOptions options, GpuCatalog catalog,
                                                obs::MetricsRegistry& metrics,
                                                ClusterObserver* observer, const Clock& clock) {
  return std::make_unique<FileSource>(std::move(options), std::move(catalog), metrics, observer,
                                      clock);
}

}  // namespace slackline::cluster
