#include "sim/platform.h"

#include <algorithm>
#include <memory>
#include <set>

#include "sim/even_shape.h"
#include "slackline/base/saturating.h"
#include "slackline/base/text.h"

namespace slackline::sim {
namespace {

Result<core::Pool> parse_pool(std::string_view text) {
  const auto wrong = [&](std::string_view what) {
    return fail(ErrorCode::kInvalidArgument,
                format("platform \"{}\": {}; write NODESxGPUS[:TYPE[*WEIGHT]], as in 4x4:k80",
                       printable(text, 40), what));
  };
  core::Pool pool;
  const std::size_t colon = text.find(':');
  const auto shape = parse_placement(trim(text.substr(0, colon)));
  if (!shape) return wrong(shape.error().message);
  // A simulation keeps account of every GPU.
  constexpr int kMostGpus = 1'000'000;
  if (shape->d_gpn > kMostGpus / shape->d_node)
    return wrong(format("more than {} GPUs", kMostGpus));
  pool.nodes = shape->d_node;
  pool.gpus_per_node = shape->d_gpn;
  if (colon == std::string_view::npos) return pool;
  const std::string_view rest = text.substr(colon + 1);
  const std::size_t star = rest.find('*');
  pool.type = GpuType(trim(rest.substr(0, star)));
  if (pool.type.empty()) return wrong("no type after the colon");
  if (star == std::string_view::npos) return pool;
  const auto weight = parse_number(trim(rest.substr(star + 1)));
  if (!weight || !(*weight > 0)) return wrong("the weight must be a positive number");
  pool.weight = *weight;
  return pool;
}

std::string where(const TraceTask& task) {
  return task.line > 0 ? format("line {}: task {}", task.line, task.id)
                       : format("task {}", task.id);
}

std::string models_of(const WorkloadProfiles& profiles) {
  std::set<std::string> models;
  for (const ProfileEntry& entry : profiles.entries())
    models.insert(entry.model);
  return join({models.begin(), models.end()}, ", ");
}

// Case does not count.
std::vector<core::PoolIndex> accepted_pools(const TraceTask& task, const Platform& platform) {
  std::vector<core::PoolIndex> pools;
  for (const GpuType& type : task.gpu_types)
    for (core::PoolIndex pool = 0; pool < platform.pools.size(); ++pool)
      if (to_lower(platform.pools[pool].type.str()) == to_lower(type.str())) pools.push_back(pool);
  return pools;
}

Status check_accepted(const TraceTask& task, const Platform& platform) {
  if (task.gpu_types.empty() || !accepted_pools(task, platform).empty()) return {};
  std::vector<std::string> wanted;
  for (const GpuType& type : task.gpu_types)
    wanted.push_back(type.str());
  std::vector<std::string> there;
  for (const core::Pool& pool : platform.pools)
    there.push_back(pool.type.str());
  return fail(ErrorCode::kInvalidArgument,
              format("{}: accepts GPU types {}, the platform has {}", where(task),
                     printable(join(wanted, ", "), 80), join(there, ", ")));
}

// A task that says nothing of its length: on as few nodes as have the GPUs asked for. Where these
// are too many for one task it has half of them, and takes twice as long, and so on.
std::vector<core::Estimate> expected_estimates(const TraceTask& task, const Platform& platform) {
  std::vector<core::Estimate> estimates;
  int gpus = task.request_gpus;
  while (gpus > platform.max_gpus)
    gpus /= 2;
  const double run_s = task.expected->run_s * task.request_gpus / gpus;
  for (core::PoolIndex pool = 0; pool < platform.pools.size(); ++pool) {
    const Placement shape = even_shape(gpus, platform.pools[pool].gpus_per_node);
    if (shape.d_node > platform.pools[pool].nodes) continue;
    estimates.push_back({pool, shape, 1, run_s, 0, task.expected->error});
  }
  return estimates;
}

}  // namespace

std::string on_one_gpu(const core::TaskTable& tasks) {
  int count = 0;
  std::string first;
  for (const core::PlanTask& task : tasks.tasks()) {
    const auto& all = task.menu->all;
    const auto is_asked = [&](const core::Choice& choice) {
      return choice.gpus == task.request_gpus;
    };
    if (std::any_of(all.begin(), all.end(), is_asked)) continue;
    if (count++ == 0) first = format("task {} for {}", task.id, task.request_gpus);
  }
  if (count == 0) return "";
  return format(
      "{} of {} tasks ask for a number of GPUs of which there is no placement (the first: {}), and "
      "run on one: give a larger --platform or --max-gpus, or leave out --fixed.",
      count, tasks.size(), first);
}

void add_unexpected(Noise& noise, const Trace& trace) {
  for (const TraceTask& task : trace.tasks)
    if (task.expected)
      noise.add({task.id, "", "", 0, 0, task.expected->true_s / task.expected->run_s});
}

int Platform::gpus() const {
  std::int64_t gpus = 0;
  for (const core::Pool& pool : pools)
    gpus = saturating_add(gpus, std::int64_t{pool.nodes} * pool.gpus_per_node);
  return saturating_int(gpus);
}

Result<std::vector<core::Pool>> parse_platform(std::string_view text) {
  std::vector<core::Pool> pools;
  for (const std::string_view part : split(text, ',')) {
    SLACKLINE_ASSIGN(core::Pool pool, parse_pool(part));
    const bool known = std::any_of(pools.begin(), pools.end(), [&](const core::Pool& p) {
      return to_lower(p.type.str()) == to_lower(pool.type.str());
    });
    if (known)
      return fail(ErrorCode::kInvalidArgument,
                  format("platform \"{}\": two pools of type \"{}\"; name each pool's type once",
                         printable(text, 40), pool.type.str()));
    pools.push_back(std::move(pool));
  }
  return pools;
}

Status match_types(std::vector<core::Pool>& pools, std::vector<ProfileEntry>& entries) {
  std::set<std::string> types;
  for (const ProfileEntry& entry : entries)
    types.insert(entry.gpu_type.str());
  const std::string known = join({types.begin(), types.end()}, ", ");
  for (core::Pool& pool : pools) {
    // In small letters, as traces and event logs name their pools.
    if (pool.type.empty() && types.size() == 1) pool.type = GpuType(to_lower(*types.begin()));
    if (pool.type.empty())
      return fail(ErrorCode::kInvalidArgument,
                  format("the platform names no GPU type, and the profile has several: {}", known));
    const std::string wanted = to_lower(pool.type.str());
    bool found = false;
    for (ProfileEntry& entry : entries) {
      if (to_lower(entry.gpu_type.str()) != wanted) continue;
      entry.gpu_type = pool.type;
      found = true;
    }
    if (!found)
      return fail(ErrorCode::kInvalidArgument,
                  format("no profile for GPU type {}; there are: {}", pool.type.str(), known));
  }
  return {};
}

core::PlanTask prepare_task(const TraceTask& task, const std::vector<core::Estimate>& estimates,
                            const Platform& platform) {
  core::PlanTask prepared;
  prepared.id = task.id;
  prepared.submit_s = task.submit_s;
  prepared.deadline_s = task.deadline_s;
  prepared.qos = task.qos;
  prepared.request_gpus = task.request_gpus;
  prepared.type = task.type;
  prepared.restart_s = platform.restart_s;
  prepared.checkpoint_s = platform.checkpoint_s;
  prepared.preference = accepted_pools(task, platform);
  prepared.fallback_after_s = platform.fallback_after_s;
  const core::MenuOptions options{platform.theta, platform.fixed ? task.request_gpus : 0};
  prepared.menu = std::make_shared<const core::PlacementMenu>(
      core::make_menu(estimates, platform.pools, options));
  return prepared;
}

Result<core::TaskTable> prepare(const Trace& trace, const WorkloadProfiles& profiles,
                                const Platform& platform) {
  core::ShapeOptions shapes;
  shapes.max_gpus = platform.max_gpus;
  shapes.divisible = platform.divisible;
  std::vector<core::PlanTask> tasks;
  tasks.reserve(trace.tasks.size());
  for (const TraceTask& task : trace.tasks) {
    if (!profiles.knows_model(task.type))
      return fail(ErrorCode::kInvalidArgument,
                  format("{}: no profile for workload type {}; there are {}", where(task),
                         printable(task.type, 64), printable(models_of(profiles), 400)));
    SLACKLINE_TRY(check_accepted(task, platform));
    auto estimates = task.expected ? expected_estimates(task, platform)
                                   : core::estimate_placements(platform.pools, profiles, task.type,
                                                               task.batch, task.iterations, shapes);
    const auto accepted = accepted_pools(task, platform);
    if (!accepted.empty())
      std::erase_if(estimates, [&](const core::Estimate& estimate) {
        return std::find(accepted.begin(), accepted.end(), estimate.pool) == accepted.end();
      });
    tasks.push_back(prepare_task(task, estimates, platform));
    if (tasks.back().menu->empty())
      return fail(ErrorCode::kInvalidArgument,
                  format("{}: {} with batch {} has no placement on this platform", where(task),
                         printable(task.type, 64), task.batch));
  }
  return core::TaskTable(std::move(tasks));
}

}  // namespace slackline::sim
