#include "slackline/core/planning/task_menu.h"

#include <algorithm>
#include <cmath>

#include "slackline/base/text.h"
#include "slackline/core/planning/deadline.h"
#include "slackline/core/planning/gpu_types.h"

namespace slackline::core {
namespace {

constexpr double kTwoSided90 = 1.645;  // 9 of 10 draws of a normal are within this many deviations

// Everything that a menu depends on, as a key.
std::string question(const TaskIntent& intent, const TaskRequest& request) {
  std::string text = format("{}|{}|{}|{}{}", request.resource, request.pods, request.gpus,
                            request.nodes_may_change, request.gpus_may_change);
  text += format("|{}|{}|{}|{}|{}", intent.workload().value_or(""), intent.family.value_or(""),
                 intent.batch_size.value_or(0), intent.iterations.value_or(0),
                 intent.expected_duration_s.value_or(0));
  text += format("|{}{}", intent.any_gpu_type, intent.any_placement);
  for (const GpuType& type : intent.gpu_types)
    text += "|" + type.str();
  for (const Placement& shape : intent.placements)
    text += "|" + shape.str();
  return text;
}

// P/p x p g, fewest nodes first. Only p for which a node has the GPUs are tried: P is whatever
// somebody wrote.
std::vector<Placement> packings(const TaskRequest& request, const Pool& pool) {
  std::vector<Placement> shapes;
  if (request.gpus < 1) return shapes;
  const std::int64_t nodes_at_most = std::min(pool.nodes, kMaxNodesOfShape);
  for (std::int64_t per_node = std::min(request.pods, pool.gpus_per_node / request.gpus);
       per_node >= 1; --per_node) {
    const std::int64_t nodes = request.pods / per_node;
    if (nodes > nodes_at_most) break;  // and more on fewer each
    if (request.pods % per_node == 0)
      shapes.push_back(clamped_placement(nodes, per_node * request.gpus));
  }
  return shapes;
}

}  // namespace

std::optional<Estimate> predicted_run(const PreparedModel& model, const TaskIntent& intent,
                                      const Placement& shape) {
  const auto prediction = model.predict(shape);
  if (!prediction || !intent.iterations) return std::nullopt;
  const double speed = prediction->throughput_samples_per_s;
  return Estimate{0,
                  shape,
                  speed,
                  model.batch() * static_cast<double>(*intent.iterations) / speed,
                  model.startup_s(),
                  std::log(speed / prediction->low) / kTwoSided90};
}

bool shape_is_free(const TaskIntent& intent, const TaskRequest& request) {
  return intent.workload().has_value() && (intent.any_placement || !intent.placements.empty()) &&
         (request.nodes_may_change || request.gpus_may_change);
}

TaskMenus::TaskMenus(std::vector<Pool> pools, std::vector<GpuType> cluster_types,
                     GpuCatalog catalog, std::shared_ptr<const Predictor> predictor, double theta)
    : pools_(std::move(pools)),
      cluster_types_(std::move(cluster_types)),
      catalog_(std::move(catalog)),
      predictor_(std::move(predictor)),
      theta_(theta) {}

const TaskMenu& TaskMenus::of(const TaskIntent& intent, const TaskRequest& request) {
  const auto [at, first] = made_.try_emplace(question(intent, request));
  if (first) at->second = make(intent, request);
  return at->second;
}

TaskMenus::Offers TaskMenus::offers(const TaskIntent& intent, const TaskRequest& request) const {
  const AcceptedTypes accepted(intent, catalog_);
  std::vector<std::pair<int, PoolIndex>> open;
  for (PoolIndex pool = 0; pool < pools_.size(); ++pool) {
    const auto preference = accepted.preference(pools_[pool].type);
    if (preference && pools_[pool].resource == request.resource)
      open.emplace_back(*preference, pool);
  }
  std::sort(open.begin(), open.end());
  Offers offers;
  offers.any_type = accepted.anything();
  for (const auto& [preference, pool] : open)
    offers.pools.push_back(pool);
  offers.estimates = by_model(offers.pools, intent, request);
  offers.modelled = !offers.estimates.empty();
  if (!offers.modelled) offers.estimates = by_word(offers.pools, intent, request);
  return offers;
}

TaskMenu TaskMenus::make(const TaskIntent& intent, const TaskRequest& request) const {
  Offers offers = this->offers(intent, request);
  // make_menu wants pools in their order.
  std::stable_sort(offers.estimates.begin(), offers.estimates.end(),
                   [](const Estimate& a, const Estimate& b) { return a.pool < b.pool; });
  TaskMenu menu;
  menu.lat11_s = reference_lat_s({intent, request.resource, catalog_}, *predictor_, cluster_types_);
  menu.menu =
      std::make_shared<const PlacementMenu>(make_menu(offers.estimates, pools_, {.theta = theta_}));
  menu.known = offers.modelled || intent.expected_duration_s;
  if (offers.modelled) menu.error = menu.menu->fastest().error;
  if (!offers.any_type) menu.preference = std::move(offers.pools);
  return menu;
}

std::vector<Estimate> TaskMenus::by_model(const std::vector<PoolIndex>& pools,
                                          const TaskIntent& intent,
                                          const TaskRequest& request) const {
  std::vector<Estimate> estimates;
  if (!catalog_.is_whole(request.resource)) return estimates;
  for (const PoolIndex pool : pools) {
    const auto model = predictor_->prepare(intent, pools_[pool].type);
    if (!model) continue;
    for (const Placement& shape : shapes(intent, request, pools_[pool]))
      if (auto estimate = predicted_run(*model, intent, shape)) {
        estimate->pool = pool;
        estimates.push_back(*estimate);
      }
  }
  return estimates;
}

// Without a model: the run time is stated, or unknown.
std::vector<Estimate> TaskMenus::by_word(const std::vector<PoolIndex>& pools,
                                         const TaskIntent& intent,
                                         const TaskRequest& request) const {
  const bool said_for_the_first_type =
      intent.expected_duration_s && !intent.gpu_types.empty() && !intent.any_gpu_type;
  const double work_s = intent.expected_duration_s.value_or(kUnknownRun_s);
  const double error = intent.expected_duration_s ? kStatedError : kUnknownError;
  std::vector<Estimate> estimates;
  for (const PoolIndex pool : pools) {
    for (const Placement& shape : packings(request, pools_[pool]))
      if (!shape_is_free(intent, request) || shape.d_node == request.pods)
        estimates.push_back({pool, shape, 1, work_s, 0, error});
    if (said_for_the_first_type && !estimates.empty()) break;
  }
  return estimates;
}

std::vector<Placement> TaskMenus::shapes(const TaskIntent& intent, const TaskRequest& request,
                                         const Pool& pool) const {
  if (!shape_is_free(intent, request)) return packings(request, pool);
  std::vector<Placement> shapes = intent.placements;
  if (intent.any_placement) {
    shapes =
        enumerate_placements(pool, {.batch = intent.batch_size.value_or(0), .divisible = true});
    shapes.push_back(clamped_placement(request.pods, request.gpus));
  }
  std::sort(shapes.begin(), shapes.end());
  shapes.erase(std::unique(shapes.begin(), shapes.end()), shapes.end());
  std::erase_if(shapes, [&](const Placement& shape) {
    return shape.d_node > pool.nodes || shape.d_gpn > pool.gpus_per_node ||
           (!request.nodes_may_change && shape.d_node != request.pods) ||
           (!request.gpus_may_change && shape.d_gpn != request.gpus);
  });
  return shapes;
}

}  // namespace slackline::core
