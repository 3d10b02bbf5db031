#include "by_request.h"

namespace slackline::core {
namespace {

std::optional<ChoiceIndex> fastest_fit(const Planning& planning, TaskIndex task) {
  const PlacementMenu& menu = planning.menu(task);
  for (const ChoiceIndex choice : menu.by_lat)
    if (planning.fits(task, menu.all[choice])) return choice;
  return std::nullopt;
}

std::optional<ChoiceIndex> exact_fit(const Planning& planning, TaskIndex task, int gpus) {
  const PlacementMenu& menu = planning.menu(task);
  for (const ChoiceIndex choice : menu.by_size) {
    if (menu.all[choice].gpus > gpus) break;
    if (menu.all[choice].gpus == gpus && planning.fits(task, menu.all[choice])) return choice;
  }
  return std::nullopt;
}

}  // namespace

std::optional<ChoiceIndex> by_request(const Planning& planning, TaskIndex task, int gpus,
                                      Counting counting) {
  if (counting == Counting::kIdle) return fastest_fit(planning, task);
  const PlacementMenu& menu = planning.menu(task);
  const int most = std::min(gpus, menu.all[menu.by_size.back()].gpus);
  const int least = counting == Counting::kShrink ? 1 : most;
  for (int count = most; count >= least; --count)
    if (const auto choice = exact_fit(planning, task, count)) return choice;
  return std::nullopt;
}

}  // namespace slackline::core
