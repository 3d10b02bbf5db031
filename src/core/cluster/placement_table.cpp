#include "slackline/core/cluster/placement_table.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <tuple>

#include "slackline/base/text.h"
#include "slackline/core/cluster/holds.h"
#include "slackline/core/cluster/pools.h"
#include "slackline/core/cluster/predicates.h"
#include "slackline/core/cluster/task_family.h"
#include "slackline/core/planning/deadline.h"
#include "slackline/core/planning/gpu_types.h"
#include "slackline/core/planning/stated_duration.h"
#include "slackline/core/planning/task_menu.h"
#include "slackline/core/throughput/throughput.h"

namespace slackline::core {
namespace {

// What is free on each node that the member may run on, holds taken off.
struct OpenNode {
  GpuType type;
  Resources free;
};

std::vector<OpenNode> open_nodes(const ClusterSnapshot& snapshot, const Pod& member,
                                 double now_steady_s) {
  const HoldView holds(snapshot, member, now_steady_s);
  std::vector<OpenNode> open;
  for (NodeIndex i = 0; i < snapshot.nodes.size(); ++i) {
    const NodeState& state = snapshot.node(i);
    if (misfit(member, *state.node)) continue;
    open.push_back({state.node->gpu_type, state.free() - holds.against(i)});
  }
  return open;
}

class TableMaker {
 public:
  TableMaker(const ClusterSnapshot& snapshot, const Task& task, const PlacementOptions& options)
      : snapshot_(snapshot),
        task_(task),
        options_(options),
        accepted_(task.intent, *options.catalog, task.gpu_resource),
        member_(*task.member),
        open_(open_nodes(snapshot, member_, options.now_steady_s)) {
    for (Pool& pool : derive_pools(snapshot, *options.catalog))
      if (pool.resource == task.gpu_resource) pools_.push_back(std::move(pool));
    // As the planner asks, so that a table and a plan tell the same (core/planning/task_menu.h).
    const TaskMenus menus(pools_, snapshot.node_table.types, *options.catalog, options.predictor,
                          options.theta);
    TaskRequest request = request_of(snapshot);
    offers_ = menus.offers(task.intent, request);
    if (!offers_.estimates.empty() && std::ranges::none_of(offers_.estimates, [&](const auto& one) {
          return is_in_reach(pools_[one.pool].type);
        })) {
      for (const Pool& pool : pools_)
        if (!is_in_reach(pool.type)) request.out_of_reach.push_back(pool.type);
      offers_ = menus.offers(task.intent, request);
    }
    table_.lat11_s = reference_lat_s({task.intent, task.gpu_resource, *options.catalog},
                                     *options.predictor, snapshot.node_table.types);
  }

  PlacementTable make() {
    table_.deadline_s = options_.deadline_s
                            ? options_.deadline_s
                            : resolve_deadline(task_.intent, task_.created_s, table_.lat11_s);
    for (PoolIndex at = 0; at < pools_.size(); ++at) {
      const Pool& pool = pools_[at];
      const std::vector<int> room = room_on(pool);
      const std::optional<PreparedModel> model = prepare(pool.type);
      for (const Placement& shape : shapes_on(at)) {
        table_.rows.push_back(row(at, shape, model));
        table_.rows.back().fits_now = room[static_cast<std::size_t>(shape.d_gpn)] >= shape.d_node;
      }
    }
    for (const GpuType& type : accepted_.types())
      if (find_pool(pools_, type, task_.gpu_resource) == nullptr) table_.absent.push_back(type);
    std::sort(table_.rows.begin(), table_.rows.end(), before);
    return std::move(table_);
  }

 private:
  bool is_in_reach(const GpuType& type) const {
    return std::ranges::any_of(open_, [&](const OpenNode& node) { return node.type == type; });
  }

  TaskRequest request_of(const ClusterSnapshot& snapshot) {
    TaskRequest request{task_.gpu_resource,    task_.gang ? task_.pods_wanted : 1,
                        task_.gpus_per_pod,    task_.nodes_may_change,
                        task_.gpus_may_change, past_of(options_.portraits.get(), task_.job.get())};
    request.spread = spread_of(member_.constraints.get());
    if (!task_.job) return request;
    request.limit_s = task_.job->run_limit_s();
    if (task_.job->plan) {
      request.sized = sized_by(*task_.job->plan);
    } else {
      table_.resizing = Resizer(snapshot, options_).of(*task_.job, task_.intent);
      if (table_.resizing) request.sized = sized_by(*table_.resizing);
    }
    return request;
  }

  // Every enumerated shape, and the ones that the task names or may be planned in even where the
  // enumeration prunes them.
  std::vector<Placement> shapes_on(PoolIndex at) const {
    const Pool& pool = pools_[at];
    ShapeOptions wanted = options_.shapes;
    if (wanted.batch == 0) wanted.batch = task_.intent.batch_size.value_or(0);
    wanted.model_parallel = task_.intent.model_parallel.value_or(1);
    std::vector<Placement> shapes = enumerate_placements(pool, wanted);
    std::vector<Placement> named = task_.intent.placements;
    named.push_back(task_.written_shape());
    for (const Placement& shape : named)
      if (shape.d_node >= 1 && shape.d_node <= pool.nodes && shape.d_gpn >= 1 &&
          shape.d_gpn <= pool.gpus_per_node)
        shapes.push_back(shape);
    for (const Estimate& offer : offers_.estimates)
      if (offer.pool == at) shapes.push_back(offer.shape);
    std::sort(shapes.begin(), shapes.end());
    shapes.erase(std::unique(shapes.begin(), shapes.end()), shapes.end());
    return shapes;
  }

  PlacementRow row(PoolIndex at, Placement shape, const std::optional<PreparedModel>& model) const {
    const Pool& pool = pools_[at];
    PlacementRow row;
    row.shape = shape;
    row.gpu_type = pool.type;
    row.resource = pool.resource;
    row.cost = placement_cost(pool, shape, options_.theta);
    row.written = shape == task_.written_shape();
    row.accepted = accepted_.preference(pool.type).has_value();
    const Estimate* offer = offer_of(at, shape);
    row.allowed = offer != nullptr;
    if (is_by_word())
      take_word(offer, row);
    else
      predict_by_model(model, row);
    row.feasible = meets_deadline(options_.now_wall_s, row.lat_s, table_.deadline_s);
    return row;
  }

  const Estimate* offer_of(PoolIndex at, Placement shape) const {
    for (const Estimate& offer : offers_.estimates)
      if (offer.pool == at && offer.shape == shape) return &offer;
    return nullptr;
  }

  bool is_modelled() const { return options_.catalog->is_whole(task_.gpu_resource); }

  // By d_gpn: nodes of the pool that have room for a member with that many GPUs.
  std::vector<int> room_on(const Pool& pool) const {
    std::vector<int> room(static_cast<std::size_t>(pool.gpus_per_node) + 1, 0);
    Resources rest = member_.requests;
    rest.set_gpus(task_.gpu_resource, 0);
    for (const OpenNode& node : open_) {
      if (node.type != pool.type || !snapshot_.fits(rest, node.free)) continue;
      const int free = countable_gpus(node.free.gpu_count(task_.gpu_resource));
      ++room[static_cast<std::size_t>(std::min(free, pool.gpus_per_node))];
    }
    for (std::size_t d_gpn = room.size(); d_gpn-- > 2;)
      room[d_gpn - 1] += room[d_gpn];
    return room;
  }

  bool is_by_word() const {
    const bool unknown = offers_.length == LengthSource::kUnknown;
    return is_past(offers_.length) || is_stated(offers_.length) ||
           offers_.length == LengthSource::kAtMost || (unknown && task_.intent.expected_duration_s);
  }

  // What people or its past say holds for the task as it is written, packed as its pods allow.
  void take_word(const Estimate* offer, PlacementRow& row) const {
    if (offer == nullptr) {
      row.model_source = "none: only the written shape is known";
    } else if (!is_past(offers_.length) && offer->error >= kUnknownError) {
      const auto type = type_of_stated_duration(task_.intent);
      row.model_source = format("none: expected-duration is for {}",
                                type ? printable(type->str(), 64) : "whole GPUs");
    } else {
      row.lat_s = offer->work_s;
      row.model_source = to_string(offers_.length);
    }
  }

  std::optional<PreparedModel> prepare(const GpuType& type) const {
    if (!is_modelled()) return std::nullopt;
    return options_.predictor->prepare(task_.intent, type);
  }

  std::string why_unmodelled() const {
    if (!task_.intent.workload()) return "none: task names no model";
    if (!is_modelled()) return "none: only whole GPUs are modelled";
    return task_.intent.batch_size ? "" : "none: task gives no batch-size";
  }

  void predict_by_model(const std::optional<PreparedModel>& model, PlacementRow& row) const {
    if (std::string none = why_unmodelled(); !none.empty()) {
      row.model_source = std::move(none);
      return;
    }
    if (model) row.prediction = model->predict(row.shape);
    if (!row.prediction) {
      row.model_source = model ? "none: no progress is predicted in this shape"
                               : "none: nothing is known about " + *task_.intent.workload() +
                                     " on " + row.gpu_type.str();
      return;
    }
    row.model_source = to_string(row.prediction->source);
    const double throughput = row.prediction->throughput_samples_per_s;
    if (const double value = cer(throughput, row.cost); std::isfinite(value)) row.cer = value;
    if (task_.intent.iterations)
      row.lat_s = lat_s(throughput, model->batch(), static_cast<double>(*task_.intent.iterations),
                        model->startup_s());
  }

  static bool before(const PlacementRow& a, const PlacementRow& b) {
    const double cer_a = a.cer.value_or(-1);
    const double cer_b = b.cer.value_or(-1);
    if (cer_a != cer_b) return cer_a > cer_b;
    return std::tuple(a.shape.gpus(), a.shape.d_node, a.gpu_type, a.resource) <
           std::tuple(b.shape.gpus(), b.shape.d_node, b.gpu_type, b.resource);
  }

  const ClusterSnapshot& snapshot_;
  const Task& task_;
  const PlacementOptions& options_;
  AcceptedTypes accepted_;
  const Pod& member_;
  std::vector<OpenNode> open_;
  std::vector<Pool> pools_;
  TaskMenus::Offers offers_;
  PlacementTable table_;
};

}  // namespace

PlacementTable placement_table(const ClusterSnapshot& snapshot, const Task& task,
                               const PlacementOptions& options) {
  return TableMaker(snapshot, task, options).make();
}

}  // namespace slackline::core
