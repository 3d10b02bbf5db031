#include "sim/bound.h"

#include <algorithm>
#include <limits>

#include "slackline/core/planning/deadline.h"

namespace slackline::sim {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Point {
  double lat_s;
  double area;
};

// The falling part of the lower convex envelope, by latency.
std::vector<Point> envelope(const std::vector<BoundChoice>& choices) {
  std::vector<Point> points;
  for (const BoundChoice& choice : choices)
    points.push_back({choice.lat_s, choice.gpus * choice.lat_s});
  std::sort(points.begin(), points.end(), [](const Point& a, const Point& b) {
    return a.lat_s != b.lat_s ? a.lat_s < b.lat_s : a.area < b.area;
  });
  std::vector<Point> hull;
  for (const Point& point : points) {
    if (!hull.empty() && point.area >= hull.back().area) continue;
    while (hull.size() >= 2) {
      const Point& a = hull[hull.size() - 2];
      const Point& b = hull.back();
      const bool below =
          (b.area - a.area) * (point.lat_s - a.lat_s) < (point.area - a.area) * (b.lat_s - a.lat_s);
      if (below) break;
      hull.pop_back();
    }
    hull.push_back(point);
  }
  return hull;
}

// A task that can be done alone.
struct Need {
  double gpu_seconds;
  std::size_t task;      // the last key of every order
  std::size_t submit;    // rank among the distinct submissions
  std::size_t deadline;  // rank among the distinct deadlines
};

// Room left up to each end b, for a growing set of tasks: every task takes from the ends at and
// behind its deadline. A tree over the ends; add() and least() are O(log n).
class RoomByEnd {
 public:
  explicit RoomByEnd(const std::vector<double>& room) {
    while (leaves_ < room.size())
      leaves_ *= 2;
    taken_.assign(2 * leaves_, 0.0);
    least_.assign(2 * leaves_, kInfinity);
    std::copy(room.begin(), room.end(), least_.begin() + static_cast<std::ptrdiff_t>(leaves_));
    for (std::size_t node = leaves_ - 1; node > 0; --node)
      pull(node);
  }

  void add(std::size_t end, double gpu_seconds) {
    std::size_t node = leaves_ + end;
    taken_[node] += gpu_seconds;
    least_[node] -= gpu_seconds;
    for (node /= 2; node > 0; node /= 2)
      pull(node);
  }

  // The least room left at any end at or behind `from`.
  double least(std::size_t from) const {
    std::size_t node = leaves_ + from;
    double room = least_[node];
    for (; node > 1; node /= 2) {
      if (node % 2 == 0)
        room = std::min(room, least_[node + 1] - taken_[node]);
      else
        room -= taken_[node - 1];
    }
    return room;
  }

 private:
  void pull(std::size_t node) {
    taken_[node] = taken_[2 * node] + taken_[2 * node + 1];
    least_[node] = std::min(least_[2 * node], least_[2 * node + 1] - taken_[2 * node]);
  }

  std::size_t leaves_ = 1;
  std::vector<double> taken_;  // by the tasks with their deadlines below the node
  std::vector<double> least_;  // least room below the node, where only those tasks have taken
};

// The distinct values, ascending.
std::vector<double> distinct(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

std::size_t rank_of(const std::vector<double>& values, double value) {
  return static_cast<std::size_t>(std::lower_bound(values.begin(), values.end(), value) -
                                  values.begin());
}

// The windows of the tasks that can be done alone, and what has been taken so far.
class Polymatroid {
 public:
  Polymatroid(const std::vector<BoundTask>& tasks, int gpus) : gpus_(gpus) {
    std::vector<double> submits;
    std::vector<double> ends;
    for (const BoundTask& task : tasks) {
      submits.push_back(task.submit_s);
      ends.push_back(task.deadline_s + core::kDeadlineTolerance_s);
    }
    submits_ = distinct(std::move(submits));
    ends_ = distinct(std::move(ends));
    for (const double end : ends_)
      room_.push_back(gpus_ * end);
    taken_.resize(submits_.size());
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      const BoundTask& task = tasks[i];
      const double end = task.deadline_s + core::kDeadlineTolerance_s;
      const double need = least_gpu_seconds(task.choices, end - task.submit_s);
      if (need < kInfinity)
        needs_.push_back({need, i, rank_of(submits_, task.submit_s), rank_of(ends_, end)});
    }
    std::sort(needs_.begin(), needs_.end(), [](const Need& a, const Need& b) {
      return a.gpu_seconds != b.gpu_seconds ? a.gpu_seconds < b.gpu_seconds : a.task < b.task;
    });
  }

  std::size_t feasible_alone() const { return needs_.size(); }

  // The most tasks, parts counted as parts. Once.
  double most_tasks() {
    if (all_fit()) return static_cast<double>(needs_.size());
    double tasks = 0;
    for (const Need& need : needs_) {
      const double part = std::clamp(room_around(need), 0.0, need.gpu_seconds);
      if (!(part > 0)) continue;
      taken_[need.submit].push_back({need.deadline, part});
      tasks += part / need.gpu_seconds;
    }
    return tasks;
  }

 private:
  struct Taken {
    std::size_t deadline;
    double gpu_seconds;
  };

  // Whether all of them together leave room in every [a, b]: the case of light load, without going
  // through them one by one.
  bool all_fit() const {
    std::vector<std::vector<const Need*>> by_submit(submits_.size());
    for (const Need& need : needs_)
      by_submit[need.submit].push_back(&need);
    RoomByEnd by_end(room_);
    for (std::size_t a = submits_.size(); a-- > 0;) {
      for (const Need* need : by_submit[a])
        by_end.add(need->deadline, need->gpu_seconds);
      const std::size_t first_end = rank_of(ends_, submits_[a]);
      if (first_end < ends_.size() && by_end.least(first_end) < gpus_ * submits_[a]) return false;
    }
    return true;
  }

  // The least room left in any [a, b] around the window.
  double room_around(const Need& need) const {
    RoomByEnd by_end(room_);
    double room = kInfinity;
    for (std::size_t a = submits_.size(); a-- > 0;) {
      for (const Taken& taken : taken_[a])
        by_end.add(taken.deadline, taken.gpu_seconds);
      if (a <= need.submit)
        room = std::min(room, by_end.least(need.deadline) - gpus_ * submits_[a]);
    }
    return room;
  }

  double gpus_;
  std::vector<double> submits_;            // distinct
  std::vector<double> ends_;               // distinct
  std::vector<double> room_;               // gpus x end, by distinct end
  std::vector<Need> needs_;                // smallest first
  std::vector<std::vector<Taken>> taken_;  // by submission
};

}  // namespace

double least_gpu_seconds(const std::vector<BoundChoice>& choices, double window_s) {
  const std::vector<Point> hull = envelope(choices);
  if (hull.empty() || window_s < hull.front().lat_s) return kInfinity;
  for (std::size_t i = 1; i < hull.size(); ++i) {
    const Point& a = hull[i - 1];
    const Point& b = hull[i];
    if (window_s < b.lat_s)
      return a.area + (b.area - a.area) * (window_s - a.lat_s) / (b.lat_s - a.lat_s);
  }
  return hull.back().area;
}

std::vector<BoundTask> bound_tasks(const core::TaskTable& tasks,
                                   const std::vector<core::Pool>& pools, const Noise& noise) {
  std::vector<BoundTask> out;
  for (const core::PlanTask& task : tasks.tasks()) {
    BoundTask bound{task.submit_s, task.deadline_s, {}};
    for (const core::Choice& choice : task.menu->all)
      bound.choices.push_back(
          {choice.startup_s + noise.true_work_s(task, pools, choice), choice.gpus});
    out.push_back(std::move(bound));
  }
  return out;
}

Bounds bounds_of(const std::vector<BoundTask>& tasks, int gpus) {
  Bounds bounds;
  if (tasks.empty()) return bounds;
  double work = 0;
  double last_submit_s = 0;
  for (const BoundTask& task : tasks) {
    work += least_gpu_seconds(task.choices, kInfinity);
    last_submit_s = std::max(last_submit_s, task.submit_s);
    double fastest_s = kInfinity;
    for (const BoundChoice& choice : task.choices)
      fastest_s = std::min(fastest_s, choice.lat_s);
    bounds.makespan_s = std::max(bounds.makespan_s, task.submit_s + fastest_s);
  }
  bounds.makespan_s = std::max(bounds.makespan_s, work / gpus);
  if (last_submit_s > 0) bounds.load = work / (gpus * last_submit_s);
  Polymatroid windows(tasks, gpus);
  const double percent = 100.0 / static_cast<double>(tasks.size());
  bounds.feasible_alone = percent * static_cast<double>(windows.feasible_alone());
  bounds.q = percent * windows.most_tasks();
  return bounds;
}

}  // namespace slackline::sim
