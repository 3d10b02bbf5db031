#include "sim/presets/dispatch_run.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <numeric>
#include <queue>
#include <string>
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
  // Of its present part, once it has a slot.
  double since_s = 0;
  double ends_s = 0;
  bool on_gpu = false;
  DispatchTimes factors{};  // what its parts take over their nominal times, once they have begun
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
  // Whose part ends first; null: nobody runs.
  const DispatchResident* first_to_end() const {
    const DispatchResident* first = nullptr;
    for (const Running* running : {&on_cpu_, &on_gpu_})
      for (const DispatchResident& one : *running)
        if (first == nullptr || ends_before(one, *first)) first = &one;
    return first;
  }
  // Ends that part. After the CPU the task waits for a GPU, after a GPU it is gone.
  DispatchResident end_first() {
    const DispatchResident ended = *first_to_end();
    std::erase_if(ended.on_gpu ? on_gpu_ : on_cpu_,
                  [&](const DispatchResident& one) { return one.task == ended.task; });
    if (!ended.on_gpu) gpu_queue_.push_back(ended);
    return ended;
  }
  static bool ends_before(const DispatchResident& a, const DispatchResident& b) {
    return std::tie(a.ends_s, a.task) < std::tie(b.ends_s, b.task);
  }

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
        chosen_(tasks.size()) {}

  DispatchOutcome play() {
    std::size_t arrived = 0;
    for (;;) {
      DispatchedNode* node = first_to_change();
      if (arrived < tasks_.size() &&
          (node == nullptr || tasks_[arrived].arrives_s <= node->first_to_end()->ends_s)) {
        now_s_ = tasks_[arrived].arrives_s;
        dispatch(arrived++);
        continue;
      }
      if (node == nullptr) break;
      const DispatchResident ended = node->end_first();
      now_s_ = ended.ends_s;
      if (ended.on_gpu) end(ended);
      start(*node, now_s_);
    }
    const auto count = static_cast<double>(tasks_.size());
    return {response_s_ / count, count / now_s_};
  }

 private:
  // Where a part ends first; null: nobody runs.
  DispatchedNode* first_to_change() {
    DispatchedNode* first = nullptr;
    for (DispatchedNode& node : nodes_)
      if (const DispatchResident* one = node.first_to_end())
        if (first == nullptr || DispatchedNode::ends_before(*one, *first->first_to_end()))
          first = &node;
    return first;
  }

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
    return times_s;
  }

  // As those that may be given tasks: [first, last).
  std::pair<std::size_t, std::size_t> present(std::size_t task) const {
    if (load_.nodes == DispatchNodes::kAll) return {0, nodes_.size()};
    if (load_.nodes == DispatchNodes::kFirst || task < kDispatchNodesJoin)
      return {0, kNodesAtFirst};
    return {task < kDispatchNodesLeave ? 0 : nodes_.size() - kNodesInTheEnd, nodes_.size()};
  }

  core::CorrectionTable::Circumstances placed(const DispatchTask& task,
                                              const DispatchedNode& node) const {
    return {std::string(kDispatchFamilies[task.family].name), std::string(node.facts().type),
            node.memory_short(node.residents() + 1),
            static_cast<double>(node.busy_gpus()) / node.facts().gpus};
  }

  // When the task would end that comes to the node now, seconds from now, if none came after it.
  double true_finish_s(std::size_t task, DispatchedNode node) const {
    node.accept({task, {}});
    for (double now_s = now_s_;;) {
      start(node, now_s);
      const DispatchResident ended = node.end_first();
      now_s = ended.ends_s;
      if (ended.on_gpu && ended.task == task) return now_s - now_s_;
    }
  }

  DispatchChoice choice_of(std::size_t at, std::size_t at_node) const {
    const DispatchTask& task = tasks_[at];
    const DispatchedNode& node = nodes_[at_node];
    const DispatchFamily& family = kDispatchFamilies[task.family];
    DispatchChoice choice;
    choice.placed = placed(task, node);
    choice.predicted_s = policy_.clairvoyant ? true_finish_s(at, node)
                                             : node.finish_s(now_s_, predicted_s(task, node));
    choice.relative = 2 * family.gpu_s[node.facts().gpu] / (family.gpu_s[0] + family.gpu_s[1]);
    choice.residents = node.residents();
    choice.idle_gpu = node.residents() < static_cast<std::size_t>(node.facts().gpus);
    choice.task = at;
    choice.node = at_node;
    choice.at_s = now_s_;
    return choice;
  }

  void dispatch(std::size_t at) {
    const auto [first, last] = present(at);
    std::vector<DispatchChoice> choices;
    for (std::size_t node = first; node < last; ++node)
      choices.push_back(choice_of(at, node));
    chosen_[at] = choices[policy_.choose ? policy_.choose(choices) : cheapest(choices)];
    DispatchedNode& node = nodes_[chosen_[at].node];
    node.accept({at, predicted_s(tasks_[at], node)});
    start(node, now_s_);
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

  // Whoever gets a CPU slot or a GPU of the node now, and how long that takes in truth.
  void start(DispatchedNode& node, double now_s) const {
    const bool is_short = !load_.clean && node.memory_short(node.residents());
    while (DispatchResident* one = node.next_on_cpu(now_s)) {
      const double cpu_s = nominal_s(tasks_[one->task], node.facts()).cpu;
      one->factors.cpu = is_short ? kShortOnCpu : 1;
      one->ends_s = now_s + cpu_s * one->factors.cpu;
    }
    while (DispatchResident* one = node.next_on_gpu(now_s)) {
      const DispatchTask& task = tasks_[one->task];
      double factor = hidden_[task.family][node.type()] * task.noise;
      factor *= is_short ? kShortOnGpu : 1;
      if (!load_.clean) factor *= 1 + kNeighbour * (node.busy_gpus() - 1);
      one->on_gpu = true;
      one->factors.gpu = factor;
      one->ends_s = now_s + nominal_s(task, node.facts()).gpu * factor;
    }
  }

  void end(const DispatchResident& ended) {
    const double response_s = now_s_ - tasks_[ended.task].arrives_s;
    response_s_ += response_s;
    if (policy_.learn) policy_.learn(chosen_[ended.task], response_s, ended.factors);
  }

  const DispatchLoad& load_;
  const HiddenFactors& hidden_;
  const std::vector<DispatchTask>& tasks_;
  const DispatchPolicy& policy_;
  std::vector<DispatchedNode> nodes_;
  std::vector<DispatchChoice> chosen_;  // by task
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
