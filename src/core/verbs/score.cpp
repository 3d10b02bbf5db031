#include "slackline/core/verbs/score.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "node_fit.h"
#include "node_lookup.h"
#include "ranking.h"
#include "slackline/base/saturating.h"
#include "slackline/base/text.h"
#include "slackline/core/cluster/pools.h"
#include "slackline/core/cluster/task_catalog.h"
#include "slackline/core/planning/deadline.h"
#include "slackline/core/planning/gpu_types.h"
#include "slackline/core/throughput/throughput.h"

namespace slackline::core {
namespace {

// The rank key in one integer: type rank 8 bits | free GPUs 12 | stranded GPUs 12 | node index 32.
constexpr std::uint64_t kMaxTypeRank = 0xff;
constexpr std::int64_t kMaxGpus = 0xfff;
constexpr int kTypeBit = 56;
constexpr int kFreeBit = 44;
constexpr int kStrandedBit = 32;

std::uint64_t clamp_gpus(std::int64_t count) {
  // Negative: the cache says the node is full. It goes last, not first.
  return static_cast<std::uint64_t>(count < 0 ? kMaxGpus : std::min(count, kMaxGpus));
}

// The input of one type's estimate; the same for all types of a request.
struct ShapeQuestion {
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
        intent_(effective_intent(snapshot, pod)),
        fit_(snapshot, pod, intent_, *options.catalog, options.now_steady_s) {
    question_.resource = primary_gpu_resource(pod.requests);
    question_.whole_gpus = options.catalog->is_whole(question_.resource);
    const std::int64_t gpus = pod.requests.gpu_count(question_.resource);
    question_.shape = clamped_placement(gang_pods(snapshot, pod, intent_), gpus);
    if (const PlanNote* plan = live_plan(snapshot, pod, options.now_steady_s))
      for (const NodeName& node : plan->nodes)
        if (const auto index = snapshot.find_node(node.str())) planned_.push_back(*index);
    std::sort(planned_.begin(), planned_.end());
    pools_ = options.pools;
    if (pools_ == nullptr && intent_.model) {
      derived_pools_ = derive_pools(snapshot, *options.catalog);
      pools_ = &derived_pools_;
    }
  }

  ScoreSheet score(const NodesRequest& request) {
    sheet_.shape = question_.shape;
    sheet_.deadline_s = deadline();
    for (const GpuType& type : snapshot_.node_table.types) {
      if (stop_asked(sheet_.types.size())) return given_up();
      sheet_.types.push_back(estimate(type));
    }
    rank_types();
    if (!measure_nodes(find_nodes(snapshot_, request))) return given_up();
    give_scores();
    sheet_.best = best_.take();
    return std::move(sheet_);
  }

 private:
  using TypeKey = std::tuple<int, int, double>;  // lateness, preference, negated CER

  bool stop_asked(std::size_t done) const {
    return done % kNodesPerAsk == 0 && is_asked(options_.stop);
  }

  ScoreSheet given_up() {
    sheet_.gave_up = true;
    sheet_.nodes.clear();
    return std::move(sheet_);
  }

  // As the queue resolves it: by its class on the slowest accepted type of the cluster.
  std::optional<double> deadline() const {
    const Job* job = owning_job(snapshot_, pod_);
    const double created_s = job != nullptr ? job->created_s : pod_.created_s;
    const auto lat11_s = reference_lat_s({intent_, question_.resource, *options_.catalog},
                                         *options_.predictor, snapshot_.node_table.types);
    return resolve_deadline(intent_, created_s, lat11_s);
  }

  // False where it was stopped.
  bool measure_nodes(const std::vector<NodeIndex>& nodes) {
    sheet_.nodes.reserve(nodes.size());
    for (const NodeIndex index : nodes) {
      if (stop_asked(sheet_.nodes.size())) return false;
      ScoredNode& node = sheet_.nodes.emplace_back();
      node.node = static_cast<std::uint32_t>(sheet_.nodes.size() - 1);
      if (index == kUnknownNode) continue;
      measure(index, node);
      if (!scorable(node)) continue;
      best_.add(node);
      if (!node.planned) best_groups_.add(group_of(node));
    }
    return true;
  }

  void measure(NodeIndex index, ScoredNode& node) {
    const NodeRow& row = fit_.row(index);
    const NodeRoom room = fit_.room(index);
    node.known = true;
    node.planned = std::binary_search(planned_.begin(), planned_.end(), index);
    node.type = row.type;
    node.free_gpus_after = room.gpus_after;
    node.stranded_gpus = stranded(row, room);
    node.order = type_ranks_[row.type] << kTypeBit | clamp_gpus(node.free_gpus_after) << kFreeBit |
                 clamp_gpus(node.stranded_gpus) << kStrandedBit | index;
  }

  // Nodes that differ in the name only.
  static std::uint64_t group_of(const ScoredNode& node) { return node.order >> kStrandedBit; }

  // A left GPU is stranded when the node's CPU or memory, shared evenly among its GPUs, has run
  // out.
  std::int64_t stranded(const NodeRow& row, const NodeRoom& room) const {
    const std::int64_t free = room.gpus_after;
    if (free <= 0) return 0;
    const auto all = static_cast<double>(free);
    // Usually all are served, and there is nothing to divide.
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
    if (!intent.workload()) {
      source = "none: pod names no model";
    } else if (!intent.batch_size) {
      source = "none: pod gives no batch-size";
    } else if (!question_.whole_gpus || question_.resource.empty()) {
      source = "none: only whole GPUs are modelled";
    } else {
      const auto prepared = options_.predictor->prepare(intent, type);
      if (prepared) estimate.prediction = prepared->predict(question_.shape);
      if (!estimate.prediction) {
        source =
            prepared
                ? "none: no progress is predicted in this shape"
                : format("none: nothing is known about {} on {}", printable(*intent.workload(), 64),
                         type.empty() ? "an unknown GPU type" : printable(type.str(), 64));
        return;
      }
      source = to_string(estimate.prediction->source);
      judge_deadline(*prepared, estimate);
      if (!estimate.cost) return;
      const double value = cer(estimate.prediction->throughput_samples_per_s, *estimate.cost);
      if (std::isfinite(value)) estimate.cer = value;
    }
  }

  void judge_deadline(const PreparedModel& model, TypeEstimate& estimate) const {
    if (!intent_.iterations) return;
    estimate.lat_s = lat_s(estimate.prediction->throughput_samples_per_s, model.batch(),
                           static_cast<double>(*intent_.iterations), model.startup_s());
    estimate.feasible = meets_deadline(options_.now_wall_s, estimate.lat_s, sheet_.deadline_s);
  }

  // Types without a CER last; equal ones share a rank.
  void rank_types() {
    std::vector<TypeKey> keys;
    for (const TypeEstimate& type : sheet_.types)
      keys.push_back(type_key(type));
    std::sort(keys.begin(), keys.end());
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    for (const TypeEstimate& type : sheet_.types) {
      const auto at = std::lower_bound(keys.begin(), keys.end(), type_key(type));
      type_ranks_.push_back(std::min(static_cast<std::uint64_t>(at - keys.begin()), kMaxTypeRank));
    }
  }

  static TypeKey type_key(const TypeEstimate& type) {
    const int lateness = !type.feasible ? 1 : *type.feasible ? 0 : 2;
    return {lateness, type.preference.value_or(std::numeric_limits<int>::max()),
            type.cer ? -*type.cer : std::numeric_limits<double>::infinity()};
  }

  void give_scores() {
    for (ScoredNode& node : sheet_.nodes) {
      if (!node.known || !scorable(node)) continue;
      const int rank = best_groups_.rank(group_of(node));
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
  std::vector<NodeIndex> planned_;  // sorted
  const std::vector<Pool>* pools_ = nullptr;
  std::vector<Pool> derived_pools_;
  ScoreSheet sheet_;
  std::vector<std::uint64_t> type_ranks_;  // by NodeRow::type
  BestGroups best_groups_;
  BestNodes best_;
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
  return NodeScorer(snapshot, request.pod, options).score(request);
}

PrioritizeReply to_reply(const ScoreSheet& sheet) {
  PrioritizeReply reply;
  reply.scores.reserve(sheet.best.size());
  for (const std::uint32_t node : sheet.best)
    reply.scores.push_back({node, sheet.nodes[node].score});
  return reply;
}

}  // namespace slackline::core
