#include "slackline/core/score.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "node_lookup.h"
#include "slackline/base/saturating.h"
#include "slackline/base/text.h"
#include "slackline/core/gpu_types.h"
#include "slackline/core/holds.h"
#include "slackline/core/prediction.h"
#include "slackline/core/tasks.h"

namespace slackline::core {
namespace {

// The rank key in one integer: type rank 8 bits | free GPUs 12 | stranded GPUs 12 | node index 32.
constexpr std::uint64_t kMaxTypeRank = 0xff;
constexpr std::int64_t kMaxGpus = 0xfff;
constexpr int kNodeBits = 32;
constexpr std::size_t kRankedGroups = kBestUnplannedScore - 1;  // the rest scores 1

std::uint64_t clamp_gpus(std::int64_t count) {
  // Negative: our cache says the node is full. It goes last, not first.
  return static_cast<std::uint64_t>(count < 0 ? kMaxGpus : std::min(count, kMaxGpus));
}

// What one type's estimate is made from; the same for all types of a request.
struct ShapeQuestion {
  TaskIntent intent;
  Placement shape;
  std::string resource;
  bool whole_gpus = false;
};

class NodeScorer {
 public:
  NodeScorer(const ClusterSnapshot& snapshot, const Pod& pod, const ScoreOptions& options)
      : snapshot_(snapshot),
        pod_(pod),
        options_(options),
        holds_(snapshot, pod, options.now_steady_s) {
    question_.intent = effective_intent(snapshot, pod);
    question_.resource = primary_gpu_resource(pod.requests);
    const GpuResourceRule* rule = options.catalog->resource(question_.resource);
    question_.whole_gpus = rule == nullptr || rule->sharing == GpuSharing::kWhole;
    const std::int64_t gpus = pod.requests.gpu_count(question_.resource);
    question_.shape = {static_cast<int>(gang_pods(snapshot, pod, question_.intent)),
                       static_cast<int>(std::clamp<std::int64_t>(gpus, 1, 65536))};
    accepted_ = AcceptedTypes(question_.intent, *options.catalog);
    if (const PlanNote* plan = live_plan(snapshot, pod, options.now_steady_s))
      for (const NodeName& node : plan->nodes)
        if (const auto index = snapshot.find_node(node.str())) planned_.push_back(*index);
    pools_ = options.pools;
    if (pools_ == nullptr && question_.intent.model) {
      derived_pools_ = derive_pools(snapshot, *options.catalog);
      pools_ = &derived_pools_;
    }
  }

  ScoreSheet score(const std::vector<std::string_view>& names) {
    sheet_.shape = question_.shape;
    sheet_.nodes.resize(names.size());
    const std::vector<NodeIndex> nodes = find_nodes(snapshot_, names);
    const Prefetcher prefetch(snapshot_, nodes);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      prefetch.at(i);
      sheet_.nodes[i].node = static_cast<std::uint32_t>(i);
      if (nodes[i] != kUnknownNode) measure(nodes[i], sheet_.nodes[i]);
    }
    rank_types();
    rank_nodes();
    return std::move(sheet_);
  }

 private:
  void measure(NodeIndex index, ScoredNode& scored) {
    const NodeState& state = snapshot_.node(index);
    scored.known = true;
    scored.planned = std::find(planned_.begin(), planned_.end(), index) != planned_.end();
    scored.type = type_index(state.node->gpu_type);
    if (holds_.any(index)) {
      Resources left = state.free() - holds_.against(index);
      measure_room(state.node->allocatable, left, scored);
    } else {
      measure_room_without_holds(state, scored);
    }
    scored.order = index;
  }

  void measure_room_without_holds(const NodeState& state, ScoredNode& scored) const {
    std::int64_t all = 0;
    std::int64_t free = 0;
    for (const GpuAmount& amount : pod_.requests.gpus) {
      const std::int64_t allocatable = state.node->allocatable.gpu_count(amount.resource);
      const std::int64_t used = saturating_add(state.used.gpu_count(amount.resource), amount.count);
      all = saturating_add(all, allocatable);
      free = saturating_add(free, saturating_sub(allocatable, used));
    }
    finish_room(state.node->allocatable, all, free,
                saturating_sub(state.node->allocatable.cpu_milli, state.used.cpu_milli),
                saturating_sub(state.node->allocatable.memory_bytes, state.used.memory_bytes),
                scored);
  }

  void measure_room(const Resources& allocatable, const Resources& left, ScoredNode& scored) const {
    std::int64_t all = 0;
    std::int64_t free = 0;
    for (const GpuAmount& amount : pod_.requests.gpus) {
      all = saturating_add(all, allocatable.gpu_count(amount.resource));
      free = saturating_add(free, saturating_sub(left.gpu_count(amount.resource), amount.count));
    }
    finish_room(allocatable, all, free, left.cpu_milli, left.memory_bytes, scored);
  }

  // A left GPU is stranded when the node's CPU or memory, shared evenly among its GPUs, has run
  // out.
  void finish_room(const Resources& allocatable, std::int64_t all, std::int64_t free,
                   std::int64_t cpu_milli, std::int64_t memory_bytes, ScoredNode& scored) const {
    scored.free_gpus_after = free;
    if (free <= 0) return;
    const auto served = [&](std::int64_t left, std::int64_t asked, std::int64_t capacity) {
      if (capacity <= 0) return static_cast<double>(free);
      const auto rest = static_cast<double>(saturating_sub(left, asked));
      return std::max(0.0, rest) * static_cast<double>(all) / static_cast<double>(capacity);
    };
    const double usable =
        std::min(served(cpu_milli, pod_.requests.cpu_milli, allocatable.cpu_milli),
                 served(memory_bytes, pod_.requests.memory_bytes, allocatable.memory_bytes));
    const double whole = std::floor(std::min(usable, static_cast<double>(free)));
    scored.stranded_gpus = free - static_cast<std::int64_t>(whole);
  }

  // Neighbours are mostly of one type: the last one is asked first.
  std::uint32_t type_index(const GpuType& type) {
    if (last_type_ < sheet_.types.size() && sheet_.types[last_type_].type == type)
      return last_type_;
    for (last_type_ = 0; last_type_ < sheet_.types.size(); ++last_type_)
      if (sheet_.types[last_type_].type == type) return last_type_;
    sheet_.types.push_back(estimate(type));
    return last_type_;
  }

  TypeEstimate estimate(const GpuType& type) const {
    TypeEstimate estimate;
    estimate.type = type;
    estimate.preference = accepted_.preference(type);
    const Pool* pool = pools_ == nullptr ? nullptr : find_pool(*pools_, type, question_.resource);
    if (pool != nullptr) {
      const double cost = placement_cost(*pool, question_.shape, options_.theta);
      if (std::isfinite(cost)) estimate.cost = cost;
    }
    predict(type, estimate);
    return estimate;
  }

  void predict(const GpuType& type, TypeEstimate& estimate) const {
    const TaskIntent& intent = question_.intent;
    std::string& source = estimate.model_source;
    if (!intent.model) {
      source = "none: pod names no model";
    } else if (!intent.batch_size) {
      source = "none: pod gives no batch-size";
    } else if (!question_.whole_gpus || question_.resource.empty()) {
      source = "none: only whole GPUs are modelled";
    } else if (const ProfileEntry* entry = options_.profiles->find(*intent.model, type);
               entry == nullptr) {
      source = format("none: no profile for {} on {}", printable(*intent.model, 64),
                      type.empty() ? "an unknown GPU type" : printable(type.str(), 64));
    } else {
      const auto prediction =
          PreparedModel(*entry, static_cast<double>(*intent.batch_size)).predict(question_.shape);
      if (!prediction) {
        source = "none: the profile predicts no progress in this shape";
        return;
      }
      source = to_string(prediction->source);
      estimate.throughput_samples_per_s = prediction->throughput_samples_per_s;
      if (!estimate.cost) return;
      const double value = cer(prediction->throughput_samples_per_s, *estimate.cost);
      if (std::isfinite(value)) estimate.cer = value;
    }
  }

  // By preference, then CER, types without a CER last; equal ones share a rank.
  void rank_types() {
    std::vector<std::pair<int, double>> keys;
    for (const TypeEstimate& type : sheet_.types)
      keys.push_back(type_key(type));
    std::sort(keys.begin(), keys.end());
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    type_ranks_.clear();
    for (const TypeEstimate& type : sheet_.types) {
      const auto at = std::lower_bound(keys.begin(), keys.end(), type_key(type));
      type_ranks_.push_back(std::min(static_cast<std::uint64_t>(at - keys.begin()), kMaxTypeRank));
    }
  }

  static std::pair<int, double> type_key(const TypeEstimate& type) {
    return {type.preference.value_or(std::numeric_limits<int>::max()),
            type.cer ? -*type.cer : std::numeric_limits<double>::infinity()};
  }

  void rank_nodes() {
    std::array<std::uint64_t, kRankedGroups> best{};
    std::size_t groups = 0;
    for (ScoredNode& node : sheet_.nodes) {
      if (!node.known) continue;
      const std::uint64_t group = type_ranks_[node.type] << 24 |
                                  clamp_gpus(node.free_gpus_after) << 12 |
                                  clamp_gpus(node.stranded_gpus);
      node.order |= group << kNodeBits;
      if (!scorable(node) || node.planned) continue;
      const auto end = best.begin() + static_cast<std::ptrdiff_t>(groups);
      const auto at = std::lower_bound(best.begin(), end, group);
      if ((at != end && *at == group) || at == best.end()) continue;
      if (groups < best.size()) ++groups;
      std::move_backward(at, best.begin() + static_cast<std::ptrdiff_t>(groups) - 1,
                         best.begin() + static_cast<std::ptrdiff_t>(groups));
      *at = group;
    }
    const auto end = best.begin() + static_cast<std::ptrdiff_t>(groups);
    for (ScoredNode& node : sheet_.nodes) {
      if (!node.known || !scorable(node)) continue;
      const auto at = std::lower_bound(best.begin(), end, node.order >> kNodeBits);
      const int rank = static_cast<int>(at - best.begin());
      node.score = node.planned ? kPlannedScore : std::max(1, kBestUnplannedScore - rank);
    }
  }

  bool scorable(const ScoredNode& node) const {
    return sheet_.types[node.type].preference.has_value();
  }

  const ClusterSnapshot& snapshot_;
  const Pod& pod_;
  const ScoreOptions& options_;
  HoldView holds_;
  ShapeQuestion question_;
  AcceptedTypes accepted_;
  std::vector<NodeIndex> planned_;
  const std::vector<Pool>* pools_ = nullptr;
  std::vector<Pool> derived_pools_;
  ScoreSheet sheet_;
  std::uint32_t last_type_ = 0;
  std::vector<std::uint64_t> type_ranks_;
};

bool better(const ScoredNode& a, const ScoredNode& b) {
  if (a.score != b.score) return a.score > b.score;
  if (a.known != b.known) return a.known;
  return a.order < b.order;
}

}  // namespace

std::vector<std::uint32_t> ScoreSheet::best_first(const NodesRequest& request) const {
  std::vector<std::uint32_t> order(nodes.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    order[i] = static_cast<std::uint32_t>(i);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    if (nodes[a].known || nodes[b].known) return better(nodes[a], nodes[b]);
    return request.node_names[a] < request.node_names[b];
  });
  return order;
}

ScoreSheet score_nodes(const ClusterSnapshot& snapshot, const NodesRequest& request,
                       const ScoreOptions& options) {
  return NodeScorer(snapshot, request.pod, options).score(request.node_names);
}

PrioritizeReply to_reply(const ScoreSheet& sheet) {
  std::vector<const ScoredNode*> scored;
  scored.reserve(sheet.nodes.size());
  for (const ScoredNode& node : sheet.nodes)
    if (node.score > 0) scored.push_back(&node);
  const std::size_t count = std::min(scored.size(), kMaxScores);
  std::partial_sort(scored.begin(), scored.begin() + static_cast<std::ptrdiff_t>(count),
                    scored.end(),
                    [](const ScoredNode* a, const ScoredNode* b) { return better(*a, *b); });
  PrioritizeReply reply;
  reply.scores.reserve(count);
  for (std::size_t i = 0; i < count; ++i)
    reply.scores.push_back({scored[i]->node, scored[i]->score});
  return reply;
}

}  // namespace slackline::core
