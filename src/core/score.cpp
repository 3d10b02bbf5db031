#include "slackline/core/score.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "node_fit.h"
#include "node_lookup.h"
#include "slackline/base/saturating.h"
#include "slackline/base/text.h"
#include "slackline/core/gpu_types.h"
#include "slackline/core/tasks.h"

namespace slackline::core {
namespace {

// The rank key in one integer: type rank 8 bits | free GPUs 12 | stranded GPUs 12 | node index 32.
constexpr std::uint64_t kMaxTypeRank = 0xff;
constexpr std::int64_t kMaxGpus = 0xfff;
constexpr int kNodeBits = 32;
constexpr std::uint32_t kNoType = std::numeric_limits<std::uint32_t>::max();

std::uint64_t clamp_gpus(std::int64_t count) {
  // Negative: our cache says the node is full. It goes last, not first.
  return static_cast<std::uint64_t>(count < 0 ? kMaxGpus : std::min(count, kMaxGpus));
}

// What one type's estimate is made from; the same for all types of a request.
struct ShapeQuestion {
  Placement shape;
  std::string resource;
  bool whole_gpus = false;
};

// The smallest rank keys that occur, as many as have a score of their own.
class BestGroups {
 public:
  void add(std::uint64_t group) {
    if (size_ == groups_.size() && group >= groups_.back()) return;
    const auto at = std::lower_bound(groups_.begin(), end(), group);
    if (at != end() && *at == group) return;
    if (size_ < groups_.size()) ++size_;
    std::move_backward(at, end() - 1, end());
    *at = group;
  }

  // How many of them are smaller.
  int rank(std::uint64_t group) const {
    if (size_ > 0 && group > groups_[size_ - 1]) return static_cast<int>(size_);
    return static_cast<int>(std::lower_bound(groups_.begin(), end(), group) - groups_.begin());
  }

 private:
  using Groups = std::array<std::uint64_t, kBestUnplannedScore - 1>;  // the rest scores 1

  Groups::iterator end() { return groups_.begin() + static_cast<std::ptrdiff_t>(size_); }
  Groups::const_iterator end() const {
    return groups_.begin() + static_cast<std::ptrdiff_t>(size_);
  }

  Groups groups_{};
  std::size_t size_ = 0;
};

class NodeScorer {
 public:
  NodeScorer(const ClusterSnapshot& snapshot, const Pod& pod, const ScoreOptions& options)
      : snapshot_(snapshot),
        pod_(pod),
        options_(options),
        intent_(effective_intent(snapshot, pod)),
        fit_(snapshot, pod, intent_, *options.catalog, options.now_steady_s) {
    question_.resource = primary_gpu_resource(pod.requests);
    const GpuResourceRule* rule = options.catalog->resource(question_.resource);
    question_.whole_gpus = rule == nullptr || rule->sharing == GpuSharing::kWhole;
    const std::int64_t gpus = pod.requests.gpu_count(question_.resource);
    question_.shape = {static_cast<int>(gang_pods(snapshot, pod, intent_)),
                       static_cast<int>(std::clamp<std::int64_t>(gpus, 1, 65536))};
    if (const PlanNote* plan = live_plan(snapshot, pod, options.now_steady_s))
      for (const NodeName& node : plan->nodes)
        if (const auto index = snapshot.find_node(node.str())) planned_.push_back(*index);
    pools_ = options.pools;
    if (pools_ == nullptr && intent_.model) {
      derived_pools_ = derive_pools(snapshot, *options.catalog);
      pools_ = &derived_pools_;
    }
  }

  ScoreSheet score(const std::vector<std::string_view>& names) {
    sheet_.shape = question_.shape;
    sheet_.nodes.resize(names.size());
    sheet_types_.assign(snapshot_.node_table.types.size(), kNoType);
    const std::vector<NodeIndex> nodes = find_nodes(snapshot_, names);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      sheet_.nodes[i].node = static_cast<std::uint32_t>(i);
      if (nodes[i] != kUnknownNode) measure(nodes[i], sheet_.nodes[i]);
    }
    rank_types();
    rank_nodes();
    return std::move(sheet_);
  }

 private:
  void measure(NodeIndex index, ScoredNode& scored) {
    const NodeRow& row = fit_.row(index);
    const Room room = fit_.room(index);
    scored.known = true;
    scored.planned = std::find(planned_.begin(), planned_.end(), index) != planned_.end();
    scored.type = sheet_type(row.type);
    scored.free_gpus_after = room.gpus_after;
    scored.stranded_gpus = stranded(row, room);
    scored.order = index;
  }

  // A left GPU is stranded when the node's CPU or memory, shared evenly among its GPUs, has run
  // out.
  std::int64_t stranded(const NodeRow& row, const Room& room) const {
    const std::int64_t free = room.gpus_after;
    if (free <= 0) return 0;
    const auto all = static_cast<double>(free);
    // Mostly all are served, and then there is nothing to divide.
    const auto served = [&](std::int64_t left, std::int64_t asked, std::int64_t capacity) {
      const auto rest = static_cast<double>(std::max<std::int64_t>(0, saturating_sub(left, asked)));
      const double shares = rest * static_cast<double>(room.gpus);
      const bool enough = shares >= all * static_cast<double>(capacity);
      return capacity <= 0 || enough ? all : shares / static_cast<double>(capacity);
    };
    const double usable =
        std::min(served(room.cpu_milli, pod_.requests.cpu_milli, row.cpu_milli),
                 served(room.memory_bytes, pod_.requests.memory_bytes, row.memory_bytes));
    return free - static_cast<std::int64_t>(usable);
  }

  // The sheet has the types that were asked about, in the order in which they were met.
  std::uint32_t sheet_type(std::uint32_t table_type) {
    std::uint32_t& index = sheet_types_[table_type];
    if (index == kNoType) {
      index = static_cast<std::uint32_t>(sheet_.types.size());
      sheet_.types.push_back(estimate(snapshot_.node_table.types[table_type]));
    }
    return index;
  }

  TypeEstimate estimate(const GpuType& type) const {
    TypeEstimate estimate;
    estimate.type = type;
    estimate.preference = fit_.accepted().preference(type);
    const Pool* pool = pools_ == nullptr ? nullptr : find_pool(*pools_, type, question_.resource);
    if (pool != nullptr) {
      const double cost = placement_cost(*pool, question_.shape, options_.theta);
      if (std::isfinite(cost)) estimate.cost = cost;
    }
    predict(type, estimate);
    return estimate;
  }

  void predict(const GpuType& type, TypeEstimate& estimate) const {
    const TaskIntent& intent = intent_;
    std::string& source = estimate.model_source;
    if (!intent.model) {
      source = "none: pod names no model";
    } else if (!intent.batch_size) {
      source = "none: pod gives no batch-size";
    } else if (!question_.whole_gpus || question_.resource.empty()) {
      source = "none: only whole GPUs are modelled";
    } else {
      const auto prepared =
          options_.predictor->prepare(*intent.model, static_cast<double>(*intent.batch_size), type);
      if (prepared) estimate.prediction = prepared->predict(question_.shape);
      if (!estimate.prediction) {
        source = prepared
                     ? "none: no progress is predicted in this shape"
                     : format("none: nothing is known about {} on {}", printable(*intent.model, 64),
                              type.empty() ? "an unknown GPU type" : printable(type.str(), 64));
        return;
      }
      source = to_string(estimate.prediction->source);
      if (!estimate.cost) return;
      const double value = cer(estimate.prediction->throughput_samples_per_s, *estimate.cost);
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
    BestGroups best;
    for (ScoredNode& node : sheet_.nodes) {
      if (!node.known) continue;
      const std::uint64_t group = type_ranks_[node.type] << 24 |
                                  clamp_gpus(node.free_gpus_after) << 12 |
                                  clamp_gpus(node.stranded_gpus);
      node.order |= group << kNodeBits;
      if (scorable(node) && !node.planned) best.add(group);
    }
    for (ScoredNode& node : sheet_.nodes) {
      if (!node.known || !scorable(node)) continue;
      const int rank = best.rank(node.order >> kNodeBits);
      node.score = node.planned ? kPlannedScore : std::max(1, kBestUnplannedScore - rank);
    }
  }

  bool scorable(const ScoredNode& node) const {
    return sheet_.types[node.type].preference.has_value();
  }

  const ClusterSnapshot& snapshot_;
  const Pod& pod_;
  const ScoreOptions& options_;
  const TaskIntent intent_;
  NodeFit fit_;
  ShapeQuestion question_;
  std::vector<NodeIndex> planned_;
  const std::vector<Pool>* pools_ = nullptr;
  std::vector<Pool> derived_pools_;
  ScoreSheet sheet_;
  std::vector<std::uint32_t> sheet_types_;  // by NodeRow::type: index into sheet_.types
  std::vector<std::uint64_t> type_ranks_;
};

// The lowest score that can be among the best kMaxScores; at least 1.
int least_score(const ScoreSheet& sheet) {
  std::array<std::size_t, kPlannedScore + 1> nodes{};
  for (const ScoredNode& node : sheet.nodes)
    ++nodes[static_cast<std::size_t>(node.score)];
  int score = kPlannedScore;
  for (std::size_t above = nodes[kPlannedScore]; score > 1 && above < kMaxScores;)
    above += nodes[static_cast<std::size_t>(--score)];
  return score;
}

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
  // Only known nodes score, so that score and order are the whole key: see better().
  struct Key {
    int score;
    std::uint32_t node;
    std::uint64_t order;
  };
  const int least = least_score(sheet);
  std::vector<Key> scored;
  for (const ScoredNode& node : sheet.nodes)
    if (node.score >= least) scored.push_back({node.score, node.node, node.order});
  const std::size_t count = std::min(scored.size(), kMaxScores);
  std::partial_sort(scored.begin(), scored.begin() + static_cast<std::ptrdiff_t>(count),
                    scored.end(), [](const Key& a, const Key& b) {
                      return a.score != b.score ? a.score > b.score : a.order < b.order;
                    });
  PrioritizeReply reply;
  reply.scores.reserve(count);
  for (std::size_t i = 0; i < count; ++i)
    reply.scores.push_back({scored[i].node, scored[i].score});
  return reply;
}

}  // namespace slackline::core
