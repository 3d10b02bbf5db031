// The planner: one plan of a long queue next to a plain sort-and-first-fit of the same tasks, how
// the cost grows, a simulated day, and forecasts. Medians, in one run.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "config/profile_files.h"
#include "sim/bound.h"
#include "sim/engine.h"
#include "sim/generate.h"
#include "slackline/base/text.h"
#include "slackline/core/planning/forecast_book.h"

namespace slackline {
namespace {

constexpr int kGpus = 8;
constexpr int kRounds = 3;
constexpr int kSignatures = 200;

const std::vector<std::string> kTypes = {"K80", "P100", "T4", "A100"};

using core::EligibleNodes;
using core::PlanTask;

// CPU time: other load on the machine does not count.
double thread_ms() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return 1e3 * static_cast<double>(now.tv_sec) + 1e-6 * static_cast<double>(now.tv_nsec);
}

double median_ms(const std::function<void()>& prepare, const std::function<void()>& work) {
  std::vector<double> times;
  for (int round = 0; round < kRounds; ++round) {
    prepare();
    const double started_ms = thread_ms();
    work();
    times.push_back(thread_ms() - started_ms);
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

std::vector<core::Pool> mixed_pools(int nodes) {
  std::vector<core::Pool> pools;
  for (const std::string& type : kTypes)
    pools.push_back({GpuType(type), "nvidia.com/gpu", nodes / 4, kGpus, 1.0});
  return pools;
}

// What tasks have in common: workload type, batch, and the nodes they may use.
struct Signature {
  std::string model;
  double batch = 0;
  std::shared_ptr<const EligibleNodes> eligible;
};

// Racks of 16 nodes in rows of 8 racks.
core::NodeBlocks racks_of(const std::vector<core::Pool>& pools) {
  core::NodeBlocks blocks;
  for (const core::Pool& pool : pools) {
    blocks.emplace_back();
    for (const std::uint32_t size : {16U, 128U}) {
      core::NodeBlockLevel level;
      for (std::uint32_t node = 0; node < static_cast<std::uint32_t>(pool.nodes); ++node)
        level.of_node.push_back(node / size);
      level.blocks = level.of_node.empty() ? 0 : level.of_node.back() + 1;
      blocks.back().push_back(std::move(level));
    }
  }
  return blocks;
}

class Queue {
 public:
  Queue(const WorkloadProfiles& profiles, int tasks, int nodes, bool racked)
      : pools_(mixed_pools(nodes)) {
    if (racked) racks_ = std::make_shared<const core::NodeBlocks>(racks_of(pools_));
    for (int i = 0; i < kSignatures; ++i)
      signatures_.push_back(draw_signature(profiles));
    std::vector<PlanTask> all;
    for (int i = 0; i < tasks; ++i)
      all.push_back(draw_task(profiles, i));
    table_ = core::TaskTable(std::move(all));
    for (const core::Pool& pool : pools_) {
      busy_.emplace_back();
      for (int node = 0; node < pool.nodes; ++node)
        busy_.back().push_back(pick(kGpus + 1));
    }
  }

  const core::TaskTable& table() const { return table_; }

  // The first `running` tasks run since an hour ago, as many of them as there is room for; all
  // others wait.
  core::PlanState state(int running) const {
    core::FreeGpus free(busy_);
    free.set_blocks(racks_);
    core::PlanState state(table_, std::move(free));
    for (core::TaskIndex task = 0; task < table_.size(); ++task)
      state.arrive(task);
    for (core::TaskIndex task = 0; task < static_cast<core::TaskIndex>(running); ++task)
      if (const auto choice = first_choice(state, task))
        state.start(task, state.run_at(task, *choice, -3600, {}));
    return state;
  }

  const std::vector<std::vector<int>>& free() const { return busy_; }

 private:
  std::optional<core::ChoiceIndex> first_choice(const core::PlanState& state,
                                                core::TaskIndex task) const {
    const core::PlacementMenu& menu = *table_[task].menu;
    for (const core::ChoiceIndex choice : menu.by_area) {
      const core::Choice& o = menu.all[choice];
      if (state.free().fits(o.pool, o.shape, table_[task].eligible.get())) return choice;
    }
    return std::nullopt;
  }

  int pick(int below) { return static_cast<int>(random_() % static_cast<unsigned>(below)); }

  Signature draw_signature(const WorkloadProfiles& profiles) {
    const auto& entries = profiles.entries();
    const ProfileEntry& entry =
        entries[static_cast<std::size_t>(pick(static_cast<int>(entries.size())))];
    Signature signature{entry.model, static_cast<double>(16 << pick(4)), nullptr};
    if (pick(2) == 0) return signature;  // half of them may go anywhere
    auto eligible = std::make_shared<EligibleNodes>();
    for (const core::Pool& pool : pools_) {
      core::NodeSet nodes(static_cast<std::size_t>(pool.nodes));
      for (int node = 0; node < pool.nodes; ++node)
        if (pick(4) > 0) nodes.insert(static_cast<core::PoolNode>(node));
      eligible->by_pool.push_back(std::move(nodes));
    }
    signature.eligible = std::move(eligible);
    return signature;
  }

  PlanTask draw_task(const WorkloadProfiles& profiles, int id) {
    const Signature& signature = signatures_[static_cast<std::size_t>(pick(kSignatures))];
    PlanTask task;
    task.id = id;
    task.submit_s = id * 0.1;
    task.type = signature.model;
    task.request_gpus = 1 << pick(4);
    task.eligible = signature.eligible;
    task.qos = pick(20) == 0 ? QosClass::kUrgent : QosClass::kNormal;
    const double iterations = 1000 + pick(20000);
    core::ShapeOptions shapes;
    shapes.max_gpus = 16;
    task.menu = std::make_shared<const core::PlacementMenu>(
        core::make_menu(core::estimate_placements(pools_, profiles, signature.model,
                                                  signature.batch, iterations, shapes),
                        pools_, {}));
    task.deadline_s = task.submit_s + task.menu->base_s * (0.5 + 0.25 * pick(7));
    return task;
  }

  std::mt19937_64 random_{1};
  std::vector<core::Pool> pools_;
  std::shared_ptr<const core::NodeBlocks> racks_;
  std::vector<Signature> signatures_;
  std::vector<std::vector<int>> busy_;
  core::TaskTable table_;
};

// The yardstick: by deadline, the first node of any type with room for what was asked.
int first_fit(const core::TaskTable& tasks, std::vector<std::vector<int>> free) {
  std::vector<core::TaskIndex> order(tasks.size());
  std::iota(order.begin(), order.end(), core::TaskIndex{0});
  std::sort(order.begin(), order.end(), [&](core::TaskIndex a, core::TaskIndex b) {
    return std::pair(tasks[a].deadline_s, tasks[a].id) <
           std::pair(tasks[b].deadline_s, tasks[b].id);
  });
  int started = 0;
  for (const core::TaskIndex task : order) {
    const auto place = [&] {
      for (std::size_t pool = 0; pool < free.size(); ++pool)
        for (std::size_t node = 0; node < free[pool].size(); ++node) {
          if (free[pool][node] < tasks[task].request_gpus) continue;
          if (tasks[task].eligible != nullptr &&
              !tasks[task].eligible->contains(static_cast<core::PoolIndex>(pool),
                                              static_cast<core::PoolNode>(node)))
            continue;
          free[pool][node] -= tasks[task].request_gpus;
          return true;
        }
      return false;
    };
    if (place()) ++started;
  }
  return started;
}

void plans(const WorkloadProfiles& profiles, const core::Policy& policy) {
  std::printf("one plan by %s, %d signatures, 4 GPU types, %d GPUs a node, CPU time\n",
              policy.name.c_str(), kSignatures, kGpus);
  std::printf("%8s %8s %8s %6s %10s %10s %8s %8s %8s %18s\n", "waiting", "running", "nodes",
              "racks", "plan ms", "us/task", "starts", "stops", "ratio", "sort+first fit ms");
  constexpr int kNodes = 5000;
  for (const auto& [waiting, running, racked] : {std::tuple{1000, 0, false},
                                                 {10000, 0, false},
                                                 {10000, 0, true},
                                                 {10000, 5000, false},
                                                 {10000, 20000, false},
                                                 {100000, 0, false}}) {
    const Queue queue(profiles, waiting + running, kNodes, racked);
    std::unique_ptr<core::PlanState> state;
    core::Plan made;
    const double plan_ms = median_ms(
        [&, running = running] { state = std::make_unique<core::PlanState>(queue.state(running)); },
        [&] { made = plan(*state, 0.1 * static_cast<double>(queue.table().size()), policy); });
    const auto starts = std::count_if(made.effects.begin(), made.effects.end(),
                                      [](const core::Effect& effect) { return effect.is_start(); });
    const double plain_ms = median_ms([] {}, [&] { first_fit(queue.table(), queue.free()); });
    std::printf("%8zu %8zu %8d %6s %10.2f %10.2f %8zd %8zu %8.2f %18.2f\n", state->waiting().size(),
                state->running().size(), kNodes, racked ? "yes" : "no", plan_ms,
                1000 * plan_ms / waiting, starts,
                made.effects.size() - static_cast<std::size_t>(starts), plan_ms / plain_ms,
                plain_ms);
  }
}

// The paper's load on many GPUs, from the first arrival to the last finish.
Status day(const WorkloadProfiles& profiles) {
  sim::Platform platform;
  SLACKLINE_ASSIGN(platform.pools, sim::parse_platform("64x8:K80"));
  sim::GenerateOptions options;
  options.rate_per_h = 320;
  options.gpu_type = platform.pools.front().type;
  auto ranges = sim::default_draw_ranges(profiles, options.gpu_type);
  for (sim::DrawRange& range : ranges)  // so that tasks wait for each other
    range.most_iterations = std::floor(1.5 * range.most_iterations);
  SLACKLINE_ASSIGN(const sim::Trace trace, sim::generate_paper000(options, ranges, profiles));
  SLACKLINE_ASSIGN(const core::TaskTable tasks, sim::prepare(trace, profiles, platform));
  const sim::Bounds bounds =
      sim::bounds_of(sim::bound_tasks(tasks, platform.pools, {}), platform.gpus());
  std::printf("\n%zu tasks in 24 h on 64 x 8 GPUs, load %.2f, to the last finish, CPU time\n",
              tasks.size(), bounds.load);
  std::printf("%12s %10s %10s %12s\n", "policy", "s", "plans", "us/plan");
  for (const char* name : {"fifo/shrink", "savable", "savable-p", "default"}) {
    SLACKLINE_ASSIGN(const core::Policy policy, core::parse_policy(name));
    int plans = 0;
    const double took_ms = median_ms(
        [] {}, [&] { plans = sim::simulate(tasks, platform, policy, sim::Noise{}).batches; });
    std::printf("%12s %10.2f %10d %12.1f\n", name, took_ms / 1000, plans, 1000 * took_ms / plans);
  }
  return {};
}

struct Asked {
  int waiting = 0;
  double error = 0;  // measured, of the model; 0: all futures are the same and one is played
  bool racked = false;
};

// For a queue that waits for GPUs which others hold: asked of core for one task, for all, and
// through the book in which the daemon looks them up.
void forecasts(const WorkloadProfiles& profiles, const core::Policy& policy) {
  std::printf("\nforecast, start and finish with an interval, by %s, CPU time\n",
              policy.name.c_str());
  std::printf("%8s %8s %6s %6s %10s %10s %10s %18s %20s\n", "waiting", "running", "racks", "error",
              "resolution", "one ms", "all ms", "book: renewal ms", "one from the book us");
  for (const Asked asked :
       {Asked{100, 0.1}, {1000, 0.1}, {10000, 0.1}, {10000, 0.1, true}, {10000, 0}}) {
    const int nodes = asked.waiting / 2;
    const Queue queue(profiles, 3 * asked.waiting, nodes, asked.racked);
    core::PlanState state = queue.state(2 * asked.waiting);
    state.believe(core::ModelError(asked.error));
    std::vector<core::TaskIndex> all(state.waiting().begin(), state.waiting().end());
    core::RolloutOptions options;
    options.resolution = asked.waiting > 1000 ? 0.1 : 0;
    const auto ask = [&](const std::vector<core::TaskIndex>& tasks) {
      return median_ms([] {}, [&] { core::rollout(state, 0, policy, tasks, options); });
    };
    std::vector<Uid> names;
    for (std::size_t task = 0; task < queue.table().size(); ++task)
      names.emplace_back(format("0b1c3a52-6d5e-4c6f-9d4e-{:012}", task));
    core::ForecastBook book;
    const double renewal_ms =
        median_ms([] {}, [&] { book = core::ForecastBook(state, names, 0, policy); });
    double sum_s = 0;
    const double look_up_ms = median_ms([] {},
                                        [&] {
                                          for (const core::TaskIndex task : all)
                                            sum_s += book.find(names[task])->start_s.p50();
                                        });
    if (std::isnan(sum_s)) std::abort();
    std::printf("%8zu %8zu %6s %6.2f %10.2f %10.2f %10.2f %18.2f %20.2f\n", all.size(),
                state.running().size(), asked.racked ? "yes" : "no", asked.error,
                options.resolution, ask({all[all.size() / 2]}), ask(all), renewal_ms,
                1000 * look_up_ms / static_cast<double>(all.size()));
  }
}

}  // namespace
}  // namespace slackline

int main() {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  using namespace slackline;
  const auto profiles = config::load_profiles({});
  if (!profiles) {
    std::fprintf(stderr, "plan_bench: %s\n", profiles.error().message.c_str());
    return 1;
  }
  for (const char* name : {"savable", "savable-p", "default"})
    plans(*profiles, *core::parse_policy(name));
  if (const Status done = day(*profiles); !done) {
    std::fprintf(stderr, "plan_bench: %s\n", done.error().message.c_str());
    return 1;
  }
  forecasts(*profiles, *core::parse_policy("savable"));
}
