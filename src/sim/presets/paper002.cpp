// The preset `paper002`: departments that own GPUs of two types, borrow what others leave idle and
// share a pool, against fixed partitions and against no shares at all.
#include <array>
#include <memory>
#include <utility>

#include "sim/generate.h"
#include "sim/platform.h"
#include "sim/presets/each_seed.h"
#include "sim/presets/preset.h"
#include "sim/presets/share_day.h"
#include "slackline/base/duration.h"
#include "slackline/base/random.h"
#include "slackline/base/text.h"
#include "slackline/core/throughput/throughput.h"
#include "wire/samples/profile_codec.h"

namespace slackline::sim {
namespace {

constexpr core::QueueNumber kDepartments = 4;
constexpr int kOwnGpus = 6;     // of each type, by each department
constexpr int kBorrowGpus = 8;  // the same
constexpr int kShareNodes = 8;  // of each type
constexpr int kExtraNodes = 4;  // P100, for some hours
constexpr int kShareNodeGpus = 4;
constexpr double kShareDay_s = 24 * kHour_s;
constexpr double kExtraFrom_s = 12 * kHour_s;
constexpr double kExtraUntil_s = 18 * kHour_s;
constexpr DayCapacity kDayCapacity{kShareDay_s,
                                   kShareNodeGpus * (2 * kShareNodes * kShareDay_s +
                                                     kExtraNodes * (kExtraUntil_s - kExtraFrom_s))};
constexpr double kBusyTimes = 4;  // as many tasks as another department has
constexpr double kBusy_s = kShareDay_s / kDepartments;
constexpr core::PoolIndex kExtraPool = 1;
constexpr std::uint64_t kDepartmentStream = 0x6465706172746d65;  // beside what the trace draws

// P100 against K80 on one GPU, as in docs/study/heterogeneous.md: medians of Gavel's, and their
// median for the others.
constexpr double kOtherSpeed = 3.4;
constexpr std::pair<std::string_view, double> kMeasuredSpeeds[] = {
    {"lstm", 3.4}, {"resnet50", 4.1}, {"seq2seq", 2.9}};

enum class Division { kPartitions, kNone, kShares };

struct Paper002Policy {
  std::string_view name;
  std::string_view policy;
  Division division;
};

// `default` stops nobody here but those that give back.
constexpr Paper002Policy kSharePolicies[] = {
    {"fifo-partition", "fifo", Division::kPartitions},
    {"fifo", "fifo", Division::kNone},
    {"shares", "default,preempt=0", Division::kShares},
    {"default-partition", "default,preempt=0", Division::kPartitions},
    {"default", "default,preempt=0", Division::kNone},
};
constexpr auto kSharePolicyNames = names_of(kSharePolicies);

struct ShareLoad {
  WorkloadProfiles profiles;
  std::vector<DrawRange> ranges;
  double rate_per_h = 0;
};

double p100_speed(std::string_view model) {
  for (const auto& [name, speed] : kMeasuredSpeeds)
    if (name == model) return speed;
  return kOtherSpeed;
}

Result<ShareLoad> read_share_load(const PresetRequest& request) {
  const GpuType k80("K80");
  const PresetFile& file = request.files.find("profile")->second;
  SLACKLINE_ASSIGN(auto entries, wire::read_profile(file.text, file.path, k80));
  std::erase_if(entries, [&](const ProfileEntry& entry) {
    return entry.gpu_type != k80 || entry.coefficients.kind != "S" ||
           !core::why_unusable(entry.coefficients).empty();
  });
  ShareLoad load;
  load.rate_per_h = request.number("rate");
  load.profiles = WorkloadProfiles(entries);
  if (states_draw_ranges(file.text)) {
    SLACKLINE_ASSIGN(load.ranges, read_draw_ranges(file.text, file.path));
  } else {
    load.ranges = default_draw_ranges(load.profiles, k80);
  }
  for (ProfileEntry entry : load.profiles.entries()) {
    entry.gpu_type = GpuType("P100");
    for (std::size_t k = 0; k < 3; ++k)
      entry.coefficients.params[k] *= p100_speed(entry.model);
    entries.push_back(std::move(entry));
  }
  load.profiles = WorkloadProfiles(std::move(entries));
  return load;
}

// Each department in turn has kBusyTimes as many tasks as each of the others.
std::vector<core::QueueNumber> draw_departments(const Trace& trace, std::uint64_t seed) {
  Random random(seed ^ kDepartmentStream);
  std::vector<core::QueueNumber> departments;
  for (const TraceTask& task : trace.tasks) {
    std::array<double, kDepartments> weights;
    weights.fill(1);
    weights[static_cast<std::size_t>(task.submit_s / kBusy_s)] = kBusyTimes;
    departments.push_back(static_cast<core::QueueNumber>(random.weighted(weights)));
  }
  return departments;
}

std::shared_ptr<const core::Shares> paper002_shares() {
  constexpr std::int64_t kGpus = std::int64_t{kShareNodes} * kShareNodeGpus;
  core::Shares shares;
  shares.types = {"K80", "P100"};
  shares.type_of_pool = {0, 1};
  shares.gpus = {kGpus, kGpus + std::int64_t{kExtraNodes} * kShareNodeGpus};
  shares.owned.assign(2, std::int64_t{kDepartments} * kOwnGpus);
  core::QueueShare share;
  share.of_types.assign(2, {kOwnGpus, kBorrowGpus});
  shares.of_queue.assign(kDepartments, share);
  return std::make_shared<const core::Shares>(std::move(shares));
}

// On one of so many equal parts of the cluster.
Result<ShareDay> share_day(const ShareLoad& load, const Trace& trace,
                           const std::vector<core::QueueNumber>& departments, int parts) {
  const int extra = kExtraNodes / parts;
  Platform platform;
  SLACKLINE_ASSIGN(platform.pools, parse_platform(format(
                                       "{}x{}:K80,{}x{}:P100", kShareNodes / parts, kShareNodeGpus,
                                       kShareNodes / parts + extra, kShareNodeGpus)));
  SLACKLINE_ASSIGN(const core::TaskTable table, prepare(trace, load.profiles, platform));
  ShareDay day;
  day.tasks = table.tasks();
  for (std::size_t i = 0; i < day.tasks.size(); ++i)
    day.tasks[i].queue = departments[i];
  day.departments = kDepartments;
  day.pools = platform.pools;
  day.extra = {kExtraPool, extra, kExtraFrom_s, kExtraUntil_s};
  return day;
}

// Every department on a part of the cluster for itself: what it owns and a quarter of the pool.
Result<std::vector<ShareTask>> play_partitions(const ShareLoad& load, const Trace& trace,
                                               const std::vector<core::QueueNumber>& departments,
                                               const core::Policy& policy) {
  std::vector<ShareTask> went;
  for (core::QueueNumber department = 0; department < kDepartments; ++department) {
    Trace part;
    for (std::size_t i = 0; i < trace.tasks.size(); ++i)
      if (departments[i] == department) part.tasks.push_back(trace.tasks[i]);
    SLACKLINE_ASSIGN(
        const ShareDay day,
        share_day(load, part, std::vector(part.tasks.size(), department), kDepartments));
    for (ShareTask& task : play_share_day(day, policy))
      went.push_back(std::move(task));
  }
  return went;
}

// Of every policy asked for, in their order.
Result<std::vector<ShareFigures>> play_share_seed(const ShareLoad& load,
                                                  const std::vector<std::string>& policies,
                                                  std::uint64_t seed) {
  GenerateOptions options;
  options.rate_per_h = load.rate_per_h;
  options.hours = kShareDay_s / kHour_s;
  options.seed = seed;
  options.gpu_type = GpuType("K80");
  SLACKLINE_ASSIGN(const Trace trace, generate_paper000(options, load.ranges, load.profiles));
  const std::vector<core::QueueNumber> departments = draw_departments(trace, seed);
  const auto shares = paper002_shares();
  std::vector<ShareFigures> figures;
  for (const std::string& name : policies) {
    const Paper002Policy& of = policy_named(kSharePolicies, name);
    SLACKLINE_ASSIGN(const core::Policy policy, core::parse_policy(of.policy));
    std::vector<ShareTask> went;
    if (of.division == Division::kPartitions) {
      SLACKLINE_ASSIGN(went, play_partitions(load, trace, departments, policy));
    } else {
      SLACKLINE_ASSIGN(ShareDay day, share_day(load, trace, departments, 1));
      if (of.division == Division::kShares) day.shares = shares;
      went = play_share_day(day, policy);
    }
    figures.push_back(share_figures(went, *shares, kDayCapacity));
  }
  return figures;
}

Result<PresetReport> run_paper002(const PresetRequest& request) {
  const auto read = read_share_load(request);
  if (!read) return fail(in_file(read.error()));
  const ShareLoad& load = *read;
  const auto runs = each_seed(request.seeds, [&](std::uint64_t seed) {
    return play_share_seed(load, request.policies, seed);
  });
  PresetReport report;
  report.figures = {"q", "jain", "gpu_use", "borrowed_gpu_hours", "give_back_p90_s"};
  for (const std::string& name : request.policies)
    report.rows.push_back({name, std::vector<double>(report.figures.size())});
  for (const auto& run : runs) {
    if (!run) return fail(in_file(run.error()));  // of what the profile holds
    for (std::size_t row = 0; row < run->size(); ++row) {
      const ShareFigures& of = (*run)[row];
      const std::array figures = {of.q, of.jain, of.gpu_use, of.borrowed_gpu_h, of.give_back_p90_s};
      for (std::size_t f = 0; f < figures.size(); ++f)
        report.rows[row].figures[f] += figures[f] / static_cast<double>(runs.size());
    }
  }
  report.note = format(
      "Means over {} seeds of {} tasks an hour. q, gpu use: percent; jain: of the departments' q; "
      "borrowed: of GPUs that others own; give back: 9 of 10 tasks begin within so many seconds "
      "since there was room for them in what their department owns.",
      runs.size(), load.rate_per_h);
  return report;
}

constexpr PresetOption kShareOptions[] = {
    {"rate", PresetKind::kNumber, "20", "Tasks an hour, of all departments", 0.1, 1000},
    {"profile", PresetKind::kFile, "$SLACKLINE_SHARED/golden/profile_k80.json",
     "Throughputs on a K80 (a WorkloadProfile or its import form), entries of kind S"},
};

}  // namespace

const Preset kPaper002Preset{
    "paper002",        "Departments that own GPUs, borrow and share a pool",
    "seeds",           "0-9",
    kSharePolicyNames, 3,
    kShareOptions,     run_paper002};

}  // namespace slackline::sim
