#include "by_request.h"

#include <algorithm>

namespace slackline::core {
namespace {

std::optional<ChoiceIndex> fastest_fit(const Planning& planning, TaskIndex task) {
  const PlacementMenu& menu = planning.menu(task);
  for (const ChoiceIndex choice : menu.by_lat)
    if (planning.fits(task, menu.all[choice])) return choice;
  return std::nullopt;
}

// The first that fits of the largest count for which one does: at most so many and what is asked
// for on the pool, with kAsAsked exactly the smaller of both.
std::optional<ChoiceIndex> largest_fit(const Planning& planning, TaskIndex task, int most,
                                       Counting counting) {
  const PlacementMenu& menu = planning.menu(task);
  std::optional<ChoiceIndex> best;
  int best_gpus = 0;
  for (const ChoiceIndex index : menu.by_size) {
    const Choice& choice = menu.all[index];
    if (choice.gpus > most) break;
    const int asked = std::min(most, asked_gpus(planning.task(task), choice.pool));
    const bool counts = counting == Counting::kShrink ? choice.gpus <= asked : choice.gpus == asked;
    if (!counts || choice.gpus <= best_gpus || !planning.fits(task, choice)) continue;
    best = index;
    best_gpus = choice.gpus;
  }
  return best;
}

}  // namespace

std::optional<ChoiceIndex> by_request(const Planning& planning, TaskIndex task, int most,
                                      Counting counting) {
  if (counting == Counting::kIdle) return fastest_fit(planning, task);
  return largest_fit(planning, task, most, counting);
}

}  // namespace slackline::core
