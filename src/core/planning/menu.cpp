#include "slackline/core/planning/menu.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "slackline/core/throughput/throughput.h"

namespace slackline::core {
namespace {

Choice choice_of(const Estimate& estimate, const Pool& pool, double theta) {
  Choice choice;
  choice.pool = estimate.pool;
  choice.shape = estimate.shape;
  choice.gpus = estimate.shape.gpus();
  choice.throughput_samples_per_s = estimate.throughput_samples_per_s;
  choice.work_s = estimate.work_s;
  choice.startup_s = estimate.startup_s;
  choice.error = estimate.error;
  choice.lat_s = estimate.work_s + estimate.startup_s;
  choice.area = choice.gpus * choice.lat_s * pool.weight;
  choice.cer = cer(estimate.throughput_samples_per_s, placement_cost(pool, estimate.shape, theta));
  return choice;
}

// Indices of the choices by key(choice), stable.
template <class Key>
std::vector<ChoiceIndex> ordered(const std::vector<Choice>& all, std::vector<ChoiceIndex> indices,
                                 const Key& key) {
  std::stable_sort(indices.begin(), indices.end(),
                   [&](ChoiceIndex a, ChoiceIndex b) { return key(all[a]) < key(all[b]); });
  return indices;
}

bool dominated(const std::vector<Choice>& all, const Choice& choice) {
  return std::any_of(all.begin(), all.end(), [&](const Choice& other) {
    return other.pool == choice.pool && other.shape.d_node <= choice.shape.d_node &&
           other.shape.d_gpn <= choice.shape.d_gpn && other.lat_s < choice.lat_s;
  });
}

double base_of(const std::vector<Choice>& all) {
  for (const Choice& choice : all)
    if (choice.gpus == 1) return choice.lat_s;
  return all.empty() ? 0 : all.front().lat_s;
}

void keep_fixed(std::vector<Choice>& all, int gpus) {
  const auto has = [&](int m) {
    return std::any_of(all.begin(), all.end(), [&](const Choice& c) { return c.gpus == m; });
  };
  const int kept = has(gpus) ? gpus : 1;
  std::erase_if(all, [&](const Choice& choice) { return choice.gpus != kept; });
}

ChoiceIndex slowest(const std::vector<Choice>& all, bool any_count) {
  const auto one_gpu = [](const Choice& choice) { return choice.gpus == 1; };
  if (std::none_of(all.begin(), all.end(), one_gpu)) any_count = true;
  ChoiceIndex slow = 0;
  bool found = false;
  for (ChoiceIndex i = 0; i < all.size(); ++i) {
    if (!any_count && !one_gpu(all[i])) continue;
    if (!found || all[i].lat_s > all[slow].lat_s) slow = i;
    found = true;
  }
  return slow;
}

}  // namespace

PlacementMenu make_menu(const std::vector<Estimate>& estimates, const std::vector<Pool>& pools,
                        const MenuOptions& options) {
  PlacementMenu menu;
  menu.all.reserve(estimates.size());
  for (const Estimate& estimate : estimates)
    menu.all.push_back(choice_of(estimate, pools[estimate.pool], options.theta));
  menu.base_s = base_of(menu.all);
  if (options.fixed_gpus > 0) keep_fixed(menu.all, options.fixed_gpus);
  menu.slow = slowest(menu.all, options.fixed_gpus > 0);

  std::vector<ChoiceIndex> every(menu.all.size());
  std::iota(every.begin(), every.end(), ChoiceIndex{0});
  menu.by_cer = ordered(menu.all, every,
                        [](const Choice& c) { return std::tuple(-c.cer, c.gpus, c.shape.d_node); });
  menu.by_size =
      ordered(menu.all, every, [](const Choice& c) { return std::tuple(c.gpus, c.shape.d_node); });
  std::erase_if(every, [&](ChoiceIndex i) { return dominated(menu.all, menu.all[i]); });
  menu.by_area =
      ordered(menu.all, every, [](const Choice& c) { return std::tuple(c.area, c.gpus); });
  menu.by_lat =
      ordered(menu.all, every, [](const Choice& c) { return std::tuple(c.lat_s, c.gpus); });
  return menu;
}

std::vector<Estimate> estimate_placements(const std::vector<Pool>& pools,
                                          const WorkloadProfiles& profiles, std::string_view model,
                                          double batch, double iterations,
                                          const ShapeOptions& shapes) {
  std::vector<Estimate> estimates;
  ShapeOptions wanted = shapes;
  wanted.batch = static_cast<std::int64_t>(batch);
  for (PoolIndex pool = 0; pool < pools.size(); ++pool) {
    const ProfileEntry* profile = profiles.find(model, pools[pool].type);
    if (profile == nullptr) continue;
    wanted.model_parallel = profile->model_parallel;
    for (const Placement& shape : enumerate_placements(pools[pool], wanted)) {
      const auto throughput =
          predict_throughput(profile->coefficients, batch, shape, profile->model_parallel);
      if (!throughput) continue;
      estimates.push_back(
          {pool, shape, *throughput, batch * iterations / *throughput, profile->startup_s});
    }
  }
  return estimates;
}

}  // namespace slackline::core
