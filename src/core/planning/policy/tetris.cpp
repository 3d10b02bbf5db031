// Tetris+Perf and Tetris+CER: every task has one placement, the fastest or the most cost-effective
// (000 section 5), whatever its deadline. Tetris' order is by remaining work against packing:
//
//   area(t) / mean area - m(t) / mean m  over all waiting tasks, then submit; smallest first
//
// A task that does not fit now is skipped; with /fifo it blocks those who came later.
#include <algorithm>
#include <tuple>

#include "policies.h"

namespace slackline::core {
namespace {

struct TetrisOptions {
  bool in_order = false;
};

constexpr PolicyVariant<TetrisOptions> kInOrder[] = {
    {"fifo", [](TetrisOptions& options) { options.in_order = true; }}};

using Fixed = ChoiceIndex (*)(const PlacementMenu&);

ChoiceIndex most_effective(const PlacementMenu& menu) {
  return menu.by_cer.front();
}

ChoiceIndex fastest(const PlacementMenu& menu) {
  ChoiceIndex best = 0;
  for (ChoiceIndex i = 1; i < menu.all.size(); ++i) {
    const auto key = [&](ChoiceIndex c) {
      return std::tuple(-menu.all[c].throughput_samples_per_s, menu.all[c].gpus);
    };
    if (key(i) < key(best)) best = i;
  }
  return best;
}

struct PackedTask {
  TaskIndex task;
  ChoiceIndex choice;
  double key;
};

std::vector<PackedTask> queue_of(const Planning& planning, Fixed fixed) {
  std::vector<PackedTask> queue;
  double area = 0;
  double gpus = 0;
  for (const TaskIndex task : planning.state().waiting()) {
    queue.push_back({task, fixed(planning.menu(task)), 0});
    const Choice& chosen = planning.menu(task).all[queue.back().choice];
    area += chosen.area;
    gpus += chosen.gpus;
  }
  const double mean_area = area / static_cast<double>(queue.size());
  const double mean_gpus = gpus / static_cast<double>(queue.size());
  for (PackedTask& entry : queue) {
    const Choice& chosen = planning.menu(entry.task).all[entry.choice];
    entry.key = chosen.area / mean_area - chosen.gpus / mean_gpus;
  }
  return queue;
}

void serve_packed(Planning& planning, const TetrisOptions& options, Fixed fixed) {
  if (planning.idle() == 0) return;
  std::vector<PackedTask> queue = queue_of(planning, fixed);
  if (!options.in_order)
    std::stable_sort(queue.begin(), queue.end(), [&](const PackedTask& a, const PackedTask& b) {
      return std::pair(a.key, planning.task(a.task).submit_s) <
             std::pair(b.key, planning.task(b.task).submit_s);
    });
  for (const PackedTask& entry : queue) {
    const Choice& chosen = planning.menu(entry.task).all[entry.choice];
    if (planning.fits(entry.task, chosen))
      planning.start(entry.task, entry.choice);
    else if (options.in_order && planning.state().may_use(entry.task, chosen))
      return;
  }
}

void serve_tetris_perf(Planning& planning, const TetrisOptions& options) {
  serve_packed(planning, options, fastest);
}

void serve_tetris_cer(Planning& planning, const TetrisOptions& options) {
  serve_packed(planning, options, most_effective);
}

}  // namespace

PolicyKind tetris_perf_kind() {
  return kind_of<TetrisOptions>({"tetris+perf", "tetris+perf", serve_tetris_perf, kInOrder});
}

PolicyKind tetris_cer_kind() {
  return kind_of<TetrisOptions>({"tetris+cer", "tetris+cer", serve_tetris_cer, kInOrder});
}

}  // namespace slackline::core
