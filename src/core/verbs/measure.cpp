#include "slackline/core/verbs/measure.h"

#include <algorithm>
#include <cmath>

#include "node_fit.h"
#include "node_lookup.h"
#include "slackline/base/saturating.h"
#include "slackline/base/text.h"
#include "slackline/core/cluster/pools.h"
#include "slackline/core/cluster/profiling.h"
#include "slackline/core/cluster/task_catalog.h"
#include "slackline/core/planning/deadline.h"
#include "slackline/core/planning/gpu_types.h"
#include "slackline/core/throughput/throughput.h"
#include "slackline/core/verbs/filter.h"

namespace slackline::core {
namespace {

// The input of one type's estimate; the same for all types of a request.
struct ShapeQuestion {
  Placement shape;
  std::string resource;
  bool whole_gpus = false;
};

class NodeMeasurer {
 public:
  NodeMeasurer(const ClusterSnapshot& snapshot, const Pod& pod, const MeasureOptions& options)
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
    if (options.slow_nodes != nullptr)
      for (const NodeName& node : *options.slow_nodes)
        if (const auto index = snapshot.find_node(node.str())) slow_.push_back(*index);
    std::sort(slow_.begin(), slow_.end());
    unknown_ = snapshot.node_table.any_profiler &&
               is_unknown_task(snapshot, options, intent_, owning_job(snapshot, pod));
    pools_ = options.pools;
    if (pools_ == nullptr && intent_.model) {
      derived_pools_ = derive_pools(snapshot, *options.catalog);
      pools_ = &derived_pools_;
    }
  }

  Measurement measure(const NodesRequest& request) {
    measured_.shape = question_.shape;
    measured_.deadline_s = deadline();
    for (const GpuType& type : snapshot_.node_table.types) {
      if (stop_asked(measured_.types.size())) return given_up();
      measured_.types.push_back(estimate(type));
    }
    const std::vector<NodeIndex> nodes = find_nodes(snapshot_, request);
    measured_.nodes.reserve(nodes.size());
    for (const NodeIndex index : nodes) {
      if (stop_asked(measured_.nodes.size())) return given_up();
      MeasuredNode& node = measured_.nodes.emplace_back();
      if (index != kUnknownNode) measure(index, node);
    }
    return std::move(measured_);
  }

 private:
  bool stop_asked(std::size_t done) const {
    return done % kNodesPerAsk == 0 && is_asked(options_.stop);
  }

  Measurement given_up() {
    measured_.gave_up = true;
    measured_.nodes.clear();
    return std::move(measured_);
  }

  // As the queue resolves it: by its class on the slowest accepted type of the cluster.
  std::optional<double> deadline() const {
    const Job* job = owning_job(snapshot_, pod_);
    const double created_s = job != nullptr ? job->created_s : pod_.created_s;
    const auto lat11_s = reference_lat_s({intent_, question_.resource, *options_.catalog},
                                         *options_.predictor, snapshot_.node_table.types);
    return resolve_deadline(intent_, created_s, lat11_s);
  }

  void measure(NodeIndex index, MeasuredNode& node) {
    const NodeRow& row = fit_.row(index);
    const NodeRoom room = fit_.room(index);
    node.index = index;
    node.type = row.type;
    node.planned = std::binary_search(planned_.begin(), planned_.end(), index);
    node.slow = std::binary_search(slow_.begin(), slow_.end(), index);
    node.profiler = unknown_ && row.profiler;
    node.free_gpus_after = room.gpus_after;
    node.stranded_gpus = stranded(row, room);
  }

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
    estimate.part = options_.catalog->is_part(type);
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
    estimate.feasible = meets_deadline(options_.now_wall_s, estimate.lat_s, measured_.deadline_s);
  }

  const ClusterSnapshot& snapshot_;
  const Pod& pod_;
  const MeasureOptions& options_;
  const TaskIntent intent_;
  NodeFit fit_;
  ShapeQuestion question_;
  std::vector<NodeIndex> planned_;  // sorted
  std::vector<NodeIndex> slow_;     // sorted
  bool unknown_ = false;            // nothing is known of the task, and some nodes are for that
  const std::vector<Pool>* pools_ = nullptr;
  std::vector<Pool> derived_pools_;
  Measurement measured_;
};

}  // namespace

Measurement measure(const ClusterSnapshot& snapshot, const NodesRequest& request,
                    const MeasureOptions& options) {
  return NodeMeasurer(snapshot, request.pod, options).measure(request);
}

FeatureRow feature_row(const Measurement& measured, const MeasuredNode& node) {
  const TypeEstimate& type = measured.type_of(node);
  FeatureRow row;
  std::size_t column = 0;
  const auto add = [&](std::optional<double> value) { row[column++] = value; };
  const auto of_prediction = [&](double Prediction::* field) {
    return type.prediction ? std::optional(*type.prediction.*field) : std::nullopt;
  };
  add(node.planned);
  add(type.preference);
  add(of_prediction(&Prediction::throughput_samples_per_s));
  add(of_prediction(&Prediction::low));
  add(of_prediction(&Prediction::high));
  add(type.cost);
  add(type.cer);
  add(type.lat_s);
  add(type.feasible);
  add(static_cast<double>(node.free_gpus_after));
  add(static_cast<double>(node.stranded_gpus));
  add(node.slow);
  add(node.profiler);
  return row;
}

std::vector<std::pair<std::string, double>> named_features(const FeatureRow& row) {
  std::vector<std::pair<std::string, double>> named;
  for (std::size_t i = 0; i < row.size(); ++i)
    if (row[i]) named.emplace_back(kFeatureNames[i], *row[i]);
  return named;
}

}  // namespace slackline::core
