#include "slackline/core/portrait/packed.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "slackline/core/portrait/histogram.h"
#include "slackline/core/portrait/learn.h"

namespace slackline::core {
namespace {

// Version 1 knew nothing of right-sizing, errors of run times and submitters.
constexpr char kVersion = 3;
constexpr char kOldestVersion = 1;
constexpr char kBeforeOthersChanged = 2;
constexpr double kMillis = 1000;
constexpr std::size_t kUuidText = 36;
constexpr std::size_t kUuidBytes = 16;

bool dash_at(std::size_t i) {
  return i == 8 || i == 13 || i == 18 || i == 23;
}

std::optional<unsigned> hex_of(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a' + 10);
  return std::nullopt;
}

// The 16 bytes of a UUID as Kubernetes writes it; empty: it is none.
std::string uuid_bytes(std::string_view text) {
  std::string bytes;
  if (text.size() != kUuidText) return bytes;
  unsigned half = 0;
  bool second = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (dash_at(i)) {
      if (text[i] != '-') return {};
      continue;
    }
    const auto digit = hex_of(text[i]);
    if (!digit) return {};
    if (second) bytes.push_back(static_cast<char>(half * 16 + *digit));
    half = *digit;
    second = !second;
  }
  return bytes;
}

std::string uuid_text(std::string_view bytes) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string text;
  for (const char byte : bytes) {
    if (dash_at(text.size())) text += '-';
    text += kHex[static_cast<unsigned char>(byte) >> 4U];
    text += kHex[static_cast<unsigned char>(byte) & 15U];
  }
  return text;
}

class Packer {
 public:
  // Seven bits a byte, the lowest first; the top bit says that more follow.
  void number(std::uint64_t value) {
    for (; value >= 0x80U; value >>= 7U)
      bytes.push_back(static_cast<char>(0x80U | (value & 0x7fU)));
    bytes.push_back(static_cast<char>(value));
  }
  void count(std::int64_t value) {
    number(static_cast<std::uint64_t>(std::max<std::int64_t>(0, value)));
  }
  void time(double seconds) {
    count(std::isfinite(seconds) ? std::llround(std::clamp(seconds, 0.0, 1e12) * kMillis) : 0);
  }
  void bits(std::uint64_t value, unsigned width) {
    for (unsigned shift = 0; shift < width; shift += 8)
      bytes.push_back(static_cast<char>((value >> shift) & 0xffU));
  }
  void whole(double value) { bits(std::bit_cast<std::uint64_t>(value), 64); }
  void measured(double value) { bits(std::bit_cast<std::uint32_t>(static_cast<float>(value)), 32); }
  void text(std::string_view value) {
    number(value.size());
    bytes += value;
  }
  // What repeats is written once.
  void name(const std::string& value) {
    const auto known = std::find(names_.begin(), names_.end(), value);
    number(static_cast<std::uint64_t>(known - names_.begin()));
    if (known != names_.end()) return;
    text(value);
    names_.push_back(value);
  }
  // Likewise: a run of which more is kept is also one of the past.
  void uid(const Uid& value) {
    const auto known = std::find(uids_.begin(), uids_.end(), value);
    number(static_cast<std::uint64_t>(known - uids_.begin()));
    if (known != uids_.end()) return;
    uids_.push_back(value);
    const std::string uuid = uuid_bytes(value.str());
    number(uuid.empty() ? value.str().size() + 1 : 0);
    bytes += uuid.empty() ? value.str() : uuid;
  }
  void maybe(const std::optional<double>& value) {
    number(value ? 1 : 0);
    if (value) whole(*value);
  }
  void usage(const std::optional<Usage>& value) {
    number(value ? 1 : 0);
    if (!value) return;
    measured(value->mean);
    measured(value->max);
    time(value->seconds);
  }

  std::string bytes;

 private:
  std::vector<std::string> names_;
  std::vector<Uid> uids_;
};

// The same in reverse. After the first thing that is wrong everything is zero, and `ok` is false.
class Unpacker {
 public:
  explicit Unpacker(std::string_view bytes) : left(bytes) {}

  std::uint64_t number() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 63 && !left.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(left.front());
      left.remove_prefix(1);
      value |= std::uint64_t{byte & 0x7fU} << shift;
      if ((byte & 0x80U) == 0) return value;
    }
    ok = false;
    return 0;
  }
  std::int64_t count() { return static_cast<std::int64_t>(number()); }
  // At most `most`.
  std::uint64_t below(std::uint64_t most) {
    const std::uint64_t value = number();
    if (value <= most) return value;
    ok = false;
    return 0;
  }
  double time() { return static_cast<double>(number()) / kMillis; }
  std::string_view take(std::uint64_t size) {
    if (size > left.size()) {
      ok = false;
      return {};
    }
    const std::string_view taken = left.substr(0, size);
    left.remove_prefix(size);
    return taken;
  }
  std::uint64_t bits(unsigned width) {
    std::uint64_t value = 0;
    unsigned shift = 0;
    for (const char byte : take(width / 8)) {
      value |= std::uint64_t{static_cast<unsigned char>(byte)} << shift;
      shift += 8;
    }
    return value;
  }
  double finite(double value) {
    if (std::isfinite(value)) return value;
    ok = false;
    return 0;
  }
  double whole() { return finite(std::bit_cast<double>(bits(64))); }
  double measured() {
    return finite(static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits(32)))));
  }
  std::string text() { return std::string(take(number())); }
  std::string name() {
    const std::uint64_t at = below(names_.size());
    if (at < names_.size()) return names_[at];
    names_.push_back(text());
    return names_.back();
  }
  Uid uid() {
    const std::uint64_t at = below(uids_.size());
    if (at < uids_.size()) return uids_[at];
    const std::uint64_t size = number();
    uids_.emplace_back(size == 0 ? uuid_text(take(kUuidBytes)) : std::string(take(size - 1)));
    return uids_.back();
  }
  std::optional<double> maybe() { return below(1) == 1 ? std::optional(whole()) : std::nullopt; }
  std::optional<Usage> usage() {
    if (below(1) == 0) return std::nullopt;
    const double mean = measured();
    const double max = measured();
    return Usage{mean, max, time()};
  }

  std::string_view left;
  bool ok = true;

 private:
  std::vector<std::string> names_;
  std::vector<Uid> uids_;
};

void put_shape(Packer& out, const Placement& shape) {
  out.count(shape.d_node);
  out.count(shape.d_gpn);
}

Placement take_shape(Unpacker& in) {
  const std::int64_t nodes = in.count();
  return clamped_placement(nodes, in.count());
}

void put_requests(Packer& out, const PodRequests& requests) {
  out.count(requests.cpu_milli);
  out.number(requests.cpu_limit_milli ? 1 : 0);
  if (requests.cpu_limit_milli) out.count(*requests.cpu_limit_milli);
  out.count(requests.memory_bytes);
}

PodRequests take_requests(Unpacker& in) {
  PodRequests requests;
  requests.cpu_milli = in.count();
  if (in.below(1) == 1) requests.cpu_limit_milli = in.count();
  requests.memory_bytes = in.count();
  return requests;
}

void put_identity(Packer& out, const PortraitIdentity& identity) {
  for (const std::string* text : {&identity.department, &identity.family, &identity.owner,
                                  &identity.image, &identity.model, &identity.framework})
    out.name(*text);
  out.number(static_cast<std::uint64_t>(identity.mode));
  out.maybe(identity.parameters);
}

PortraitIdentity take_identity(Unpacker& in) {
  PortraitIdentity identity;
  for (std::string* text : {&identity.department, &identity.family, &identity.owner,
                            &identity.image, &identity.model, &identity.framework})
    *text = in.name();
  identity.mode = static_cast<WorkloadMode>(in.below(1));
  identity.parameters = in.maybe();
  return identity;
}

void put_run(Packer& out, const PortraitRun& run) {
  const UsageSample& usage = run.usage;
  out.name(usage.task.ns);
  out.text(usage.task.name);
  out.uid(usage.run);
  out.time(run.finished_s);
  out.time(run.finished_s - usage.from_s);
  out.time(run.finished_s - usage.to_s);
  for (const auto* used :
       {&usage.cpu_cores, &usage.memory_bytes, &usage.gpu_share, &usage.gpu_memory_share})
    out.usage(*used);
  out.number(static_cast<std::uint64_t>(usage.gpus));
  out.time(usage.gap_s);
  out.name(run.gpu_type.str());
  put_shape(out, run.shape);
  put_shape(out, run.asked);
  put_requests(out, run.requests);
  out.time(run.run_s);
  out.maybe(run.wait_s);
  out.number(static_cast<std::uint64_t>(run.outcome));
  out.count(run.preemptions);
  out.maybe(run.speed);
  out.name(run.image_digest);
  out.number(run.resized ? 1 : 0);
  if (!run.resized) return;
  put_requests(out, run.resized->given);
  out.time(run.resized->expected_s);
}

PortraitRun take_run(Unpacker& in, char version) {
  PortraitRun run;
  UsageSample& usage = run.usage;
  usage.task.ns = in.name();
  usage.task.name = in.text();
  usage.run = in.uid();
  run.finished_s = in.time();
  usage.from_s = run.finished_s - in.time();
  usage.to_s = run.finished_s - in.time();
  for (auto* used :
       {&usage.cpu_cores, &usage.memory_bytes, &usage.gpu_share, &usage.gpu_memory_share})
    *used = in.usage();
  usage.gpus = static_cast<UsageQuality>(in.below(2));
  usage.gap_s = in.time();
  run.gpu_type = GpuType(in.name());
  run.shape = take_shape(in);
  run.asked = take_shape(in);
  run.requests = take_requests(in);
  run.run_s = in.time();
  run.wait_s = in.maybe();
  run.outcome = static_cast<RunOutcome>(in.below(3));
  run.preemptions = static_cast<int>(in.below(1'000'000));
  run.speed = in.maybe();
  run.image_digest = in.name();
  if (version > kOldestVersion && in.below(1) == 1) {
    ResizedRun& resized = run.resized.emplace();
    resized.given = take_requests(in);
    resized.expected_s = in.time();
  }
  return run;
}

void put_record(Packer& out, const ResizeRecord& record) {
  out.time(record.kept_s);
  out.time(record.rolled_back.at_s);
  out.uid(record.rolled_back.run);
  out.text(record.rolled_back.task);
  out.number(static_cast<std::uint64_t>(record.rolled_back.failure));
}

ResizeRecord take_record(Unpacker& in) {
  ResizeRecord record;
  record.kept_s = in.time();
  record.rolled_back.at_s = in.time();
  record.rolled_back.run = in.uid();
  record.rolled_back.task = in.text();
  record.rolled_back.failure = static_cast<ResizeFailure>(in.below(3));
  return record;
}

// Runs are in the order of their ends: the time since the one before takes fewer bytes.
void put_past(Packer& out, const PastRun& run, double before_s) {
  out.uid(run.run);
  out.name(run.gpu_type.str());
  out.count(run.gpus);
  out.time(run.run_s);
  out.time(run.finished_s - before_s);
  out.number(static_cast<std::uint64_t>(run.outcome));
}

PastRun take_past(Unpacker& in, double before_s) {
  PastRun run;
  run.run = in.uid();
  run.gpu_type = GpuType(in.name());
  run.gpus = static_cast<int>(in.below(kMaxGpusPerNode * std::uint64_t{kMaxNodesOfShape}));
  run.run_s = in.time();
  run.finished_s = before_s + in.time();
  run.outcome = static_cast<RunOutcome>(in.below(3));
  return run;
}

void put_tally(Packer& out, const Tally& tally) {
  out.count(tally.runs);
  out.whole(tally.sum);
  out.whole(tally.max);
}

Tally take_tally(Unpacker& in) {
  Tally tally;
  tally.runs = in.count();
  tally.sum = in.whole();
  tally.max = in.whole();
  return tally;
}

// At most `most` of what `take_one` reads.
template <class TakeOne>
auto take_list(Unpacker& in, std::size_t most, TakeOne take_one) {
  std::vector<decltype(take_one(in))> list;
  for (std::uint64_t left = in.below(most); left > 0 && in.ok; --left)
    list.push_back(take_one(in));
  return list;
}

}  // namespace

std::string packed(const Portrait& portrait) {
  Packer out;
  out.bytes.push_back(kVersion);
  put_identity(out, portrait.identity);
  out.name(portrait.image_digest);
  out.count(portrait.version);
  for (const UsageHistogram& histogram : portrait.histograms)
    out.text(histogram.buckets.empty() ? std::string() : packed(histogram));
  out.number(portrait.recent.size());
  for (const PortraitRun& run : portrait.recent)
    put_run(out, run);
  out.number(portrait.past.size());
  double before_s = 0;
  for (const PastRun& run : portrait.past) {
    put_past(out, run, before_s);
    before_s = run.finished_s;
  }
  out.number(portrait.shortages.size());
  for (const MemoryShortage& shortage : portrait.shortages) {
    out.uid(shortage.run);
    out.measured(shortage.bytes);
    out.time(shortage.at_s);
  }
  put_requests(out, portrait.requests);
  put_shape(out, portrait.asked);
  for (const std::int64_t outcome : portrait.outcomes)
    out.count(outcome);
  out.count(portrait.preemptions);
  for (const Tally* tally : {&portrait.waits_s, &portrait.runs_s, &portrait.speeds})
    put_tally(out, *tally);
  out.time(portrait.first_s);
  out.time(portrait.last_s);
  put_record(out, portrait.resizing);
  out.text(portrait.time_errors.buckets.empty() ? std::string() : packed(portrait.time_errors));
  out.name(portrait.identity.submitter);
  out.number(portrait.others_changed ? 1 : 0);
  return std::move(out.bytes);
}

Result<Portrait> unpacked_portrait(std::string_view bytes) {
  const auto damaged = [](std::string_view what) {
    return slackline::fail(ErrorCode::kDataLoss, "portrait: " + std::string(what));
  };
  if (bytes.empty()) return damaged("there are no bytes");
  const char version = bytes.front();
  if (version < kOldestVersion || version > kVersion) return damaged("of another version");
  Unpacker in(bytes.substr(1));
  Portrait portrait;
  portrait.identity = take_identity(in);
  portrait.image_digest = in.name();
  portrait.version = static_cast<int>(in.below(1'000'000'000));
  for (std::size_t kind = 0; kind < kUsageKindCount; ++kind) {
    const std::string_view one = in.take(in.number());
    if (one.empty()) continue;
    SLACKLINE_ASSIGN(portrait.histograms[kind],
                     unpacked(one, scale_of(static_cast<UsageKind>(kind))));
  }
  portrait.recent = take_list(in, kEvidenceRuns * kEvidenceTypes,
                              [version](Unpacker& from) { return take_run(from, version); });
  portrait.past = take_list(in, kPastRuns, [before_s = 0.0](Unpacker& from) mutable {
    const PastRun run = take_past(from, before_s);
    before_s = run.finished_s;
    return run;
  });
  portrait.shortages = take_list(in, kShortages, [](Unpacker& from) {
    MemoryShortage shortage;
    shortage.run = from.uid();
    shortage.bytes = from.measured();
    shortage.at_s = from.time();
    return shortage;
  });
  portrait.requests = take_requests(in);
  portrait.asked = take_shape(in);
  for (std::int64_t& outcome : portrait.outcomes)
    outcome = in.count();
  portrait.preemptions = in.count();
  for (Tally* tally : {&portrait.waits_s, &portrait.runs_s, &portrait.speeds})
    *tally = take_tally(in);
  portrait.first_s = in.time();
  portrait.last_s = in.time();
  if (version > kOldestVersion) {
    portrait.resizing = take_record(in);
    const std::string_view errors = in.take(in.number());
    if (!errors.empty()) {
      SLACKLINE_ASSIGN(portrait.time_errors, unpacked(errors, scale_of_errors()));
    }
    portrait.identity.submitter = in.name();
  }
  if (version > kBeforeOthersChanged) portrait.others_changed = in.below(1) == 1;
  if (!in.ok || !in.left.empty()) return damaged("cut off, or no portrait");
  return portrait;
}

}  // namespace slackline::core
