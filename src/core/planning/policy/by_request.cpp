#include "by_request.h"

namespace slackline::core {
namespace {

std::optional<ChoiceIndex> fastest_fit(const Planning& planning, TaskIndex task) {
  const PlacementMenu& menu = planning.menu(task);
  for (const ChoiceIndex choice : menu.by_lat)
    if (planning.fits(task, menu.all[choice])) return choice;
  return std::nullopt;
}

// The first that fits of the largest count for which one does, from `most` down to `least`.
std::optional<ChoiceIndex> largest_fit(const Planning& planning, TaskIndex task, int least,
                                       int most) {
  const PlacementMenu& menu = planning.menu(task);
  std::optional<ChoiceIndex> best;
  int best_gpus = least;
  for (const ChoiceIndex choice : menu.by_size) {
    const int gpus = menu.all[choice].gpus;
    if (gpus > most) break;
    const bool better = best ? gpus > best_gpus : gpus >= best_gpus;
    if (!better || !planning.fits(task, menu.all[choice])) continue;
    best = choice;
    best_gpus = gpus;
  }
  return best;
}

}  // namespace

std::optional<ChoiceIndex> by_request(const Planning& planning, TaskIndex task, int gpus,
                                      Counting counting) {
  if (counting == Counting::kIdle) return fastest_fit(planning, task);
  const PlacementMenu& menu = planning.menu(task);
  const int most = std::min(gpus, menu.all[menu.by_size.back()].gpus);
  const int least = counting == Counting::kShrink ? 1 : most;
  return largest_fit(planning, task, least, most);
}

}  // namespace slackline::core
