#include "slackline/core/planning/task_menu.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "slackline/base/saturating.h"
#include "slackline/base/text.h"
#include "slackline/core/planning/deadline.h"
#include "slackline/core/planning/gpu_types.h"
#include "slackline/core/planning/mixed_pods.h"
#include "slackline/core/planning/stated_duration.h"
#include "slackline/core/portrait/family.h"

namespace slackline::core {
namespace {

constexpr std::size_t kMostMenus = 20'000;  // ends of runs make others of a family's requests
constexpr double kTwoSided90 = 1.645;  // 9 of 10 draws of a normal are within this many deviations

// Everything that a menu depends on, as a key.
std::string question(const TaskIntent& intent, const TaskRequest& request) {
  std::string text = format("{}|{}|{}|{}{}", request.resource, request.pods, request.gpus,
                            request.nodes_may_change, request.gpus_may_change);
  text += format("|{}|{}|{}|{}|{}", intent.workload().value_or(""), intent.family.value_or(""),
                 intent.batch_size.value_or(0), intent.iterations.value_or(0),
                 intent.expected_duration_s.value_or(0));
  if (intent.expected_duration_on) text += format("|on {}", intent.expected_duration_on->str());
  if (intent.qos_class && intent.expected_duration_s) text += "|class";  // for reference_run()
  text += format("|{}", intent.model_parallel.value_or(0));
  text += format("|{}{}", intent.any_gpu_type, intent.any_placement);
  for (const GpuType& type : intent.gpu_types)
    text += "|" + type.str();
  for (const Placement& shape : intent.placements)
    text += "|" + shape.str();
  text += format("|{}|{}|{}", request.spread.most.value_or(0), request.spread.skew.value_or(0),
                 request.limit_s.value_or(0));
  for (const std::int64_t gpus : request.of_each)
    text += format("|+{}", gpus);
  for (const GpuType& type : request.out_of_reach)
    text += "|-" + type.str();
  for (const auto& [type, shape] : request.sized)
    text += format("|{}={}", type.str(), shape.str());
  if (const PortraitPtr& family = request.past.portrait)
    text +=
        format("|{}{}|{}|{}|{}", request.past.similar ? "like " : "",
               portrait_key(family->identity), family->runs(), family->outcomes[0], family->last_s);
  return text;
}

// P/p x p g, fewest nodes first. Only p for which a node has the GPUs are tried: P is whatever
// somebody wrote.
std::vector<Placement> packings(const TaskRequest& request, const Pool& pool) {
  std::vector<Placement> shapes;
  if (request.gpus < 1) return shapes;
  if (!request.of_each.empty()) {
    const std::vector<std::int64_t> empty(static_cast<std::size_t>(pool.nodes), pool.gpus_per_node);
    if (have_room(request.of_each, empty, most_on_node(request.spread)))
      shapes.push_back(in_units(request.of_each));
    return shapes;
  }
  const std::int64_t nodes_at_most = std::min(pool.nodes, kMaxNodesOfShape);
  const std::int64_t most = std::min(request.pods, pool.gpus_per_node / request.gpus);
  std::optional<Placement> most_even;  // of those that kube-scheduler may call uneven
  for (std::int64_t per_node = std::min(most, request.spread.most.value_or(most)); per_node >= 1;
       --per_node) {
    const std::int64_t nodes = request.pods / per_node;
    if (nodes > nodes_at_most) break;  // and more on fewer each
    if (request.pods % per_node != 0) continue;
    const Placement shape = clamped_placement(nodes, per_node * request.gpus);
    if (per_node > request.spread.skew.value_or(per_node))
      most_even = shape;
    else
      shapes.push_back(shape);
  }
  if (shapes.empty() && most_even) shapes.push_back(*most_even);
  return shapes;
}

// What a model is asked of; a task with pods that differ runs on as many nodes, at most.
Spread spread_in(const TaskRequest& request, const Placement& shape) {
  Spread spread = shape;
  if (request.of_each.empty()) return spread;
  spread.nodes = saturating_int(request.pods);
  spread.most_per_node = saturating_int(request.gpus);
  return spread;
}

std::optional<Estimate> predicted_in(const PreparedModel& model, const TaskIntent& intent,
                                     const Placement& shape, const Spread& spread) {
  const auto prediction = model.predict(spread);
  if (!prediction || !intent.iterations) return std::nullopt;
  const double speed = prediction->throughput_samples_per_s;
  return Estimate{0,
                  shape,
                  speed,
                  model.batch() * static_cast<double>(*intent.iterations) / speed,
                  model.startup_s(),
                  std::log(speed / prediction->low) / kTwoSided90};
}

// Those that hold whole replicas; all where none does: the task can run as written all the same.
std::vector<Placement> whole_replicas(const std::vector<Placement>& shapes, const Pool& pool,
                                      std::int64_t model_parallel) {
  std::vector<Placement> whole;
  for (const Placement& shape : shapes)
    if (holds_replicas(shape, pool.gpus_per_node, model_parallel)) whole.push_back(shape);
  return whole.empty() ? shapes : whole;
}

}  // namespace

std::optional<Estimate> predicted_run(const PreparedModel& model, const TaskIntent& intent,
                                      const Placement& shape) {
  return predicted_in(model, intent, shape, shape);
}

double error_of(const RunTimeFromHistory& time) {
  return std::log(time.high_s / time.median_s) / kTwoSided90;
}

std::string_view to_string(LengthSource source) {
  switch (source) {
    case LengthSource::kModel:
      return "model";
    case LengthSource::kStated:
      return "expected-duration";
    case LengthSource::kStatedForAll:
      return "expected-duration-for-all-types";
    case LengthSource::kHistory:
      return "history";
    case LengthSource::kSimilar:
      return "similar";
    case LengthSource::kAtMost:
      return "at-most";
    case LengthSource::kUnknown:
      break;
  }
  return "";
}

std::int64_t TaskRequest::all_gpus() const {
  if (of_each.empty()) return saturating_mul(pods, gpus);
  std::int64_t all = 0;
  for (const std::int64_t one : of_each)
    all = saturating_add(all, one);
  return all;
}

std::optional<Placement> TaskRequest::sized_on(const GpuType& type) const {
  for (const auto& [sized_type, shape] : sized)
    if (sized_type == type) return shape;
  return std::nullopt;
}

bool shape_may_change(const TaskIntent& intent, const TaskRequest& request) {
  return (intent.any_placement || !intent.placements.empty()) &&
         (request.nodes_may_change || request.gpus_may_change);
}

bool shape_is_free(const TaskIntent& intent, const TaskRequest& request) {
  return (intent.workload().has_value() || !request.sized.empty()) &&
         shape_may_change(intent, request);
}

TaskMenus::TaskMenus(std::vector<Pool> pools, std::vector<GpuType> cluster_types,
                     GpuCatalog catalog, std::shared_ptr<const Predictor> predictor, double theta)
    : pools_(std::move(pools)),
      cluster_types_(std::move(cluster_types)),
      catalog_(std::move(catalog)),
      predictor_(std::move(predictor)),
      theta_(theta) {}

const TaskMenu& TaskMenus::of(const TaskIntent& intent, const TaskRequest& request) {
  if (made_.size() > kMostMenus) made_.clear();
  const auto [at, first] = made_.try_emplace(question(intent, request));
  if (first) at->second = make(intent, request);
  return at->second;
}

TaskMenus::Offers TaskMenus::offers(const TaskIntent& intent, const TaskRequest& request) const {
  const AcceptedTypes accepted(intent, catalog_, request.resource);
  std::vector<std::pair<int, PoolIndex>> open;
  for (PoolIndex pool = 0; pool < pools_.size(); ++pool) {
    if (pools_[pool].resource != request.resource) continue;
    if (std::ranges::find(request.out_of_reach, pools_[pool].type) != request.out_of_reach.end())
      continue;
    // A pod that asks for several of them gets no more of the GPU than with one.
    const bool shared =
        catalog_.is_share(pools_[pool].type) || catalog_.is_shared(request.resource);
    if (shared && request.gpus > 1) continue;
    if (const auto preference = accepted.preference(pools_[pool].type))
      open.emplace_back(*preference, pool);
  }
  std::sort(open.begin(), open.end());
  Offers offers;
  offers.any_type = accepted.anything();
  for (const auto& [preference, pool] : open)
    offers.pools.push_back(pool);
  offers.estimates = by_model(offers.pools, intent, request);
  if (!offers.estimates.empty()) {
    offers.length = LengthSource::kModel;
    return offers;
  }
  if (!intent.expected_duration_s) {
    offers.estimates = by_history(offers.pools, intent, request);
    if (!offers.estimates.empty()) {
      offers.length = request.past.similar ? LengthSource::kSimilar : LengthSource::kHistory;
      return offers;
    }
  }
  add_by_word(intent, request, offers);
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
  menu.length = offers.length;
  if (offers.length == LengthSource::kModel) menu.error = menu.menu->fastest().error;
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
      if (auto estimate = predicted_in(*model, intent, shape, spread_in(request, shape))) {
        estimate->pool = pool;
        estimates.push_back(*estimate);
      }
  }
  return estimates;
}

std::vector<Estimate> TaskMenus::by_history(const std::vector<PoolIndex>& pools,
                                            const TaskIntent& intent,
                                            const TaskRequest& request) const {
  std::vector<Estimate> estimates;
  const PortraitPtr& family = request.past.portrait;
  if (!family) return estimates;
  const int gpus = saturating_int(request.all_gpus());
  std::optional<RunTimeFromHistory> elsewhere;  // on as many GPUs as were asked for
  for (const PastRun& run : family->past)
    if (const auto time = run_time_of(*family, run.gpu_type, gpus)) elsewhere = time;
  if (!elsewhere) return estimates;
  for (const PoolIndex pool : pools) {
    const GpuType& type = pools_[pool].type;
    const auto time_on = [&](int on) {
      const auto time = run_time_of(*family, type, on, model_ratio(intent, on, pools_[pool]));
      return time && request.past.similar ? std::optional(borrowed(*time)) : time;
    };
    const std::optional<Placement> sized = request.sized_on(type);
    auto time = time_on(sized ? sized->gpus() : gpus);
    if (!time && sized) time = time_on(gpus);
    const double work_s = time ? time->median_s : elsewhere->median_s;
    const double error = time ? error_of(*time) : kUnknownError;
    for (const Placement& shape : written_shapes(intent, request, pools_[pool]))
      estimates.push_back({pool, shape, 1, work_s, 0, error});
  }
  return estimates;
}

// How the model's time changes with the number of GPUs, on the fewest nodes.
RunTimeRatio TaskMenus::model_ratio(const TaskIntent& intent, int gpus, const Pool& pool) const {
  const auto model = predictor_->prepare(intent, pool.type);
  if (!model) return {};
  const auto speed = [model = *model, most = pool.gpus_per_node](int on) -> std::optional<double> {
    const int nodes = (on + most - 1) / std::max(1, most);
    if (nodes < 1 || on % nodes != 0) return std::nullopt;
    const auto prediction = model.predict(clamped_placement(nodes, on / nodes));
    return prediction ? std::optional(prediction->throughput_samples_per_s) : std::nullopt;
  };
  return [speed, now = speed(gpus)](int then) -> std::optional<double> {
    const auto before = speed(then);
    return now && before ? std::optional(*before / *now) : std::nullopt;
  };
}

std::vector<Placement> TaskMenus::written_shapes(const TaskIntent& intent,
                                                 const TaskRequest& request, const Pool& pool) {
  if (const auto sized = request.sized_on(pool.type))
    return sized->d_node <= pool.nodes && sized->d_gpn <= pool.gpus_per_node
               ? std::vector{*sized}
               : std::vector<Placement>{};
  std::vector<Placement> shapes = packings(request, pool);
  if (shape_is_free(intent, request))
    std::erase_if(shapes, [&](const Placement& shape) { return shape.d_node != request.pods; });
  return shapes;
}

void TaskMenus::add_by_word(const TaskIntent& intent, const TaskRequest& request,
                            Offers& offers) const {
  const StatedDuration stated(intent, catalog_, request.resource, *predictor_);
  const double unknown_s =
      intent.expected_duration_s ? kMostSlower * *intent.expected_duration_s : kUnknownRun_s;
  // Where there is a deadline, that it is ended later says nothing of whether it is in time.
  const bool at_most = request.limit_s && !intent.expected_duration_s && !intent.deadline_s &&
                       !intent.deadline_after_s;
  std::set<GpuType> known_on;
  for (const PoolIndex pool : offers.pools)
    for (const Placement& shape : written_shapes(intent, request, pools_[pool])) {
      const auto time_s = stated.on(pools_[pool].type, shape);
      if (time_s) known_on.insert(pools_[pool].type);
      if (at_most) {
        offers.estimates.push_back({pool, shape, 1, static_cast<double>(*request.limit_s), 0, 0});
        continue;
      }
      offers.estimates.push_back(
          {pool, shape, 1, time_s.value_or(unknown_s), 0, time_s ? kStatedError : kUnknownError});
    }
  if (at_most && !offers.estimates.empty()) offers.length = LengthSource::kAtMost;
  if (!known_on.empty())
    offers.length =
        stated.type() || known_on.size() == 1 ? LengthSource::kStated : LengthSource::kStatedForAll;
}

std::vector<Placement> TaskMenus::shapes(const TaskIntent& intent, const TaskRequest& request,
                                         const Pool& pool) const {
  const std::int64_t replica = intent.model_parallel.value_or(1);
  if (!shape_is_free(intent, request))
    return whole_replicas(packings(request, pool), pool, replica);
  std::vector<Placement> shapes = intent.placements;
  if (intent.any_placement) {
    shapes = enumerate_placements(
        pool,
        {.batch = intent.batch_size.value_or(0), .divisible = true, .model_parallel = replica});
    shapes.push_back(clamped_placement(request.pods, request.gpus));
  }
  const std::optional<Placement> sized = request.sized_on(pool.type);
  if (sized) shapes.push_back(*sized);
  std::sort(shapes.begin(), shapes.end());
  shapes.erase(std::unique(shapes.begin(), shapes.end()), shapes.end());
  std::erase_if(shapes, [&](const Placement& shape) {
    return shape.d_node > pool.nodes || shape.d_gpn > pool.gpus_per_node ||
           (!request.nodes_may_change && shape.d_node != request.pods) ||
           (!request.gpus_may_change && shape.d_gpn != request.gpus) ||
           (sized && shape.gpus() > sized->gpus());
  });
  return whole_replicas(shapes, pool, replica);
}

}  // namespace slackline::core
