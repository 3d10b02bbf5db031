#include "sim/presets/dispatch_run.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <numeric>
#include <queue>
#include <tuple>
#include <utility>

#include "slackline/base/random.h"

namespace slackline::sim {
namespace {

constexpr std::array<int, kDispatchNodes.size()> kNodesOfType = {2, 4, 4, 1};
static_assert(std::accumulate(kNodesOfType.begin(), kNodesOfType.end(), 0) ==
              static_cast<int>(kMostDispatchNodes));
constexpr int kCpuSlots = 4;
constexpr double kResidentGb = 2;
constexpr double kShortOnCpu = 1.6;
constexpr double kShortOnGpu = 1.3;
constexpr double kNeighbour = 0.08;
constexpr double kHiddenSigma = 0.4;
constexpr double kNoiseSigma = 0.2;
constexpr double kSizeMean = -0.125;  // of ln size, so that the mean size is 1
constexpr double kSizeSigma = 0.5;
constexpr double kLeastSize = 0.2;
constexpr double kMostSize = 4;
constexpr std::size_t kNodesAtFirst = 8;
constexpr std::size_t kNodesInTheEnd = 9;  // the two that were there first leave

// A task on a node.
struct DispatchResident {
  std::size_t task = 0;
  DispatchTimes predicted_s;
  double since_s = 0;  // of its present stage, once it has a slot
};

// When each of `servers` is free, seconds from now.
class Servers {
 public:
  Servers(int servers, const std::vector<double>& busy_s) {
    for (const double left_s : busy_s)
      free_at_.push(left_s);
    for (int i = static_cast<int>(busy_s.size()); i < servers; ++i)
      free_at_.push(0);
  }

  // The end of what is ready then and takes so long; first come, first served.
  double serve(double ready_s, double takes_s) {
    const double end_s = std::max(ready_s, free_at_.top()) + takes_s;
    free_at_.pop();
    free_at_.push(end_s);
    return end_s;
  }

 private:
  std::priority_queue<double, std::vector<double>, std::greater<>> free_at_;
};

class DispatchedNode {
 public:
  explicit DispatchedNode(std::size_t type) : type_(type) {}

  std::size_t type() const { return type_; }
  const DispatchNode& facts() const { return kDispatchNodes[type_]; }
  std::size_t residents() const {
    return on_cpu_.size() + cpu_queue_.size() + on_gpu_.size() + gpu_queue_.size();
  }
  int busy_gpus() const { return static_cast<int>(on_gpu_.size()); }
  bool memory_short(std::size_t residents) const {
    return kResidentGb * static_cast<double>(residents) > facts().memory_gb;
  }

  void accept(DispatchResident resident) { cpu_queue_.push_back(resident); }
  // The next one that gets a CPU slot, or a GPU, now; null: none does.
  DispatchResident* next_on_cpu(double now_s) {
    return next(cpu_queue_, on_cpu_, kCpuSlots, now_s);
  }
  DispatchResident* next_on_gpu(double now_s) {
    return next(gpu_queue_, on_gpu_, facts().gpus, now_s);
  }
  void leave_cpu(std::size_t task) { gpu_queue_.push_back(take(on_cpu_, task)); }
  void leave_gpu(std::size_t task) { (void)take(on_gpu_, task); }

  // When a task that comes now would end, seconds from now.
  double finish_s(double now_s, const DispatchTimes& newcomer_s) const {
    struct Ready {
      double at_s;
      double gpu_s;
      bool newcomer;
    };
    std::vector<Ready> ready;
    for (const DispatchResident& one : gpu_queue_)
      ready.push_back({0, one.predicted_s.gpu, false});
    std::vector<double> left_s;
    for (const DispatchResident& one : on_cpu_) {
      left_s.push_back(left(now_s, one, one.predicted_s.cpu));
      ready.push_back({left_s.back(), one.predicted_s.gpu, false});
    }
    Servers cpus(kCpuSlots, left_s);
    for (const DispatchResident& one : cpu_queue_)
      ready.push_back({cpus.serve(0, one.predicted_s.cpu), one.predicted_s.gpu, false});
    ready.push_back({cpus.serve(0, newcomer_s.cpu), newcomer_s.gpu, true});
    std::stable_sort(ready.begin(), ready.end(),
                     [](const Ready& a, const Ready& b) { return a.at_s < b.at_s; });
    left_s.clear();
    for (const DispatchResident& one : on_gpu_)
      left_s.push_back(left(now_s, one, one.predicted_s.gpu));
    Servers gpus(facts().gpus, left_s);
    for (const Ready& one : ready) {
      const double end_s = gpus.serve(one.at_s, one.gpu_s);
      if (one.newcomer) return end_s;
    }
    return 0;
  }

 private:
  using Queue = std::deque<DispatchResident>;
  using Running = std::vector<DispatchResident>;

  static double left(double now_s, const DispatchResident& one, double predicted_s) {
    return std::max(0.0, predicted_s - (now_s - one.since_s));
  }
  static DispatchResident* next(Queue& queue, Running& running, int slots, double now_s) {
    if (queue.empty() || static_cast<int>(running.size()) >= slots) return nullptr;
    running.push_back(queue.front());
    queue.pop_front();
    running.back().since_s = now_s;
    return &running.back();
  }
  static DispatchResident take(Running& running, std::size_t task) {
    const auto at = std::find_if(running.begin(), running.end(),
                                 [&](const DispatchResident& one) { return one.task == task; });
    const DispatchResident taken = *at;
    running.erase(at);
    return taken;
  }

  std::size_t type_;
  Queue cpu_queue_;
  Running on_cpu_;
  Queue gpu_queue_;
  Running on_gpu_;
};

// One of each type by turns, so that those that join and leave are of several types.
std::vector<DispatchedNode> dispatch_nodes() {
  std::vector<DispatchedNode> nodes;
  std::array<int, kDispatchNodes.size()> left = kNodesOfType;
  for (bool any = true; std::exchange(any, false);)
    for (std::size_t type = 0; type < left.size(); ++type)
      if (left[type]-- > 0) {
        nodes.emplace_back(type);
        any = true;
      }
  return nodes;
}

class DispatchRun {
 public:
  DispatchRun(const DispatchLoad& load, const HiddenFactors& hidden,
              const std::vector<DispatchTask>& tasks, const DispatchPolicy& policy)
      : load_(load),
        hidden_(hidden),
        tasks_(tasks),
        policy_(policy),
        nodes_(dispatch_nodes()),
        chosen_(tasks.size()),
        factors_(tasks.size()) {}

  DispatchOutcome play() {
    std::size_t arrived = 0;
    while (arrived < tasks_.size() || !events_.empty()) {
      if (arrived < tasks_.size() &&
          (events_.empty() || tasks_[arrived].arrives_s <= events_.top().at_s)) {
        now_s_ = tasks_[arrived].arrives_s;
        dispatch(arrived++);
        continue;
      }
      const Event event = events_.top();
      events_.pop();
      now_s_ = event.at_s;
      event.on_gpu ? end(event) : nodes_[event.node].leave_cpu(event.task);
      start(event.node);
    }
    const auto count = static_cast<double>(tasks_.size());
    return {response_s_ / count, count / now_s_};
  }

 private:
  struct Event {
    double at_s = 0;
    std::size_t task = 0;
    std::size_t node = 0;
    bool on_gpu = false;
    bool operator<(const Event& other) const {
      return std::tie(at_s, task) > std::tie(other.at_s, other.task);
    }
  };

  DispatchTimes nominal_s(const DispatchTask& task, const DispatchNode& node) const {
    const DispatchFamily& family = kDispatchFamilies[task.family];
    return {family.cpu_s * task.size, family.gpu_s[node.gpu] * task.size};
  }

  DispatchTimes predicted_s(const DispatchTask& task, const DispatchedNode& node) const {
    DispatchTimes times_s = nominal_s(task, node.facts());
    if (policy_.factor) {
      const DispatchTimes factor = policy_.factor(placed(task, node));
      times_s.cpu *= factor.cpu;
      times_s.gpu *= factor.gpu;
    }
    if (policy_.clairvoyant) times_s.gpu *= hidden_[task.family][node.type()] * task.noise;
    return times_s;
  }

  // As those that may be given tasks: [first, last).
  std::pair<std::size_t, std::size_t> present(std::size_t task) const {
    if (!load_.node_changes) return {0, nodes_.size()};
    if (task < kDispatchNodesJoin) return {0, kNodesAtFirst};
    return {task < kDispatchNodesLeave ? 0 : nodes_.size() - kNodesInTheEnd, nodes_.size()};
  }

  core::CorrectionTable::Circumstances placed(const DispatchTask& task,
                                              const DispatchedNode& node) const {
    return {std::string(kDispatchFamilies[task.family].name), std::string(node.facts().type),
            node.memory_short(node.residents() + 1),
            static_cast<double>(node.busy_gpus()) / node.facts().gpus};
  }

  DispatchChoice choice_of(const DispatchTask& task, const DispatchedNode& node) const {
    const DispatchFamily& family = kDispatchFamilies[task.family];
    DispatchChoice choice;
    choice.placed = placed(task, node);
    choice.predicted_s = node.finish_s(now_s_, predicted_s(task, node));
    choice.relative = 2 * family.gpu_s[node.facts().gpu] / (family.gpu_s[0] + family.gpu_s[1]);
    choice.residents = node.residents();
    choice.idle_gpu = node.residents() < static_cast<std::size_t>(node.facts().gpus);
    return choice;
  }

  void dispatch(std::size_t at) {
    const DispatchTask& task = tasks_[at];
    const auto [first, last] = present(at);
    std::vector<DispatchChoice> choices;
    for (std::size_t node = first; node < last; ++node) {
      choices.push_back(choice_of(task, nodes_[node]));
      choices.back().task = at;
      choices.back().node = node;
      choices.back().at_s = now_s_;
    }
    chosen_[at] = choices[policy_.choose ? policy_.choose(choices) : cheapest(choices)];
    const std::size_t node = chosen_[at].node;
    nodes_[node].accept({at, predicted_s(task, nodes_[node])});
    start(node);
  }

  std::size_t cheapest(const std::vector<DispatchChoice>& choices) const {
    std::size_t best = 0;
    double least = 0;
    for (std::size_t i = 0; i < choices.size(); ++i) {
      const double cost = policy_.cost(choices[i]);
      if (i > 0 && cost >= least) continue;
      best = i;
      least = cost;
    }
    return best;
  }

  // Whoever gets a CPU slot or a GPU of the node now.
  void start(std::size_t at) {
    DispatchedNode& node = nodes_[at];
    const bool is_short = !load_.clean && node.memory_short(node.residents());
    while (const DispatchResident* one = node.next_on_cpu(now_s_)) {
      const double cpu_s = nominal_s(tasks_[one->task], node.facts()).cpu;
      factors_[one->task].cpu = is_short ? kShortOnCpu : 1;
      events_.push({now_s_ + cpu_s * factors_[one->task].cpu, one->task, at, false});
    }
    while (const DispatchResident* one = node.next_on_gpu(now_s_)) {
      const DispatchTask& task = tasks_[one->task];
      double factor = hidden_[task.family][node.type()] * task.noise;
      factor *= is_short ? kShortOnGpu : 1;
      if (!load_.clean) factor *= 1 + kNeighbour * (node.busy_gpus() - 1);
      factors_[one->task].gpu = factor;
      events_.push({now_s_ + nominal_s(task, node.facts()).gpu * factor, one->task, at, true});
    }
  }

  void end(const Event& event) {
    nodes_[event.node].leave_gpu(event.task);
    const double response_s = now_s_ - tasks_[event.task].arrives_s;
    response_s_ += response_s;
    if (policy_.learn) policy_.learn(chosen_[event.task], response_s, factors_[event.task]);
  }

  const DispatchLoad& load_;
  const HiddenFactors& hidden_;
  const std::vector<DispatchTask>& tasks_;
  const DispatchPolicy& policy_;
  std::vector<DispatchedNode> nodes_;
  std::vector<DispatchChoice> chosen_;  // by task
  std::vector<DispatchTimes> factors_;  // by task: what its parts took over their nominal times
  std::priority_queue<Event> events_;
  double now_s_ = 0;
  double response_s_ = 0;
};

}  // namespace

HiddenFactors draw_hidden(const DispatchLoad& load, std::uint64_t world) {
  Random random(world);
  HiddenFactors hidden{};
  for (auto& of_family : hidden)
    for (double& factor : of_family) {
      const double drawn = std::exp(kHiddenSigma * random.normal());
      factor = load.clean ? 1 : drawn;
    }
  return hidden;
}

std::vector<DispatchTask> draw_dispatched(const DispatchLoad& load, std::uint64_t seed) {
  Random random(seed);
  std::vector<DispatchTask> tasks(static_cast<std::size_t>(load.tasks));
  double now_s = 0;
  for (DispatchTask& task : tasks) {
    task.arrives_s = now_s += random.exponential(60 / load.per_minute);
    task.family = random.index(kDispatchFamilies.size());
    task.size =
        std::clamp(std::exp(kSizeMean + kSizeSigma * random.normal()), kLeastSize, kMostSize);
    const double noise = std::exp(kNoiseSigma * random.normal());
    if (!load.clean) task.noise = noise;
  }
  return tasks;
}

DispatchOutcome run_dispatch(const DispatchLoad& load, const HiddenFactors& hidden,
                             const std::vector<DispatchTask>& tasks, const DispatchPolicy& policy) {
  return DispatchRun(load, hidden, tasks, policy).play();
}

}  // namespace slackline::sim
