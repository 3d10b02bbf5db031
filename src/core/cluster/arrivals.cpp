#include "slackline/core/cluster/arrivals.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "queue_tasks.h"
#include "slackline/core/planning/mixed_pods.h"

namespace slackline::core {
namespace {

bool earlier(const Arrival& a, const Arrival& b) {
  return std::tie(a.created_s, a.task) < std::tie(b.created_s, b.task);
}

// On any nodes. Null: its pods are equal.
std::shared_ptr<const MixedPods> mixed_of(const TaskRequest& request) {
  if (request.of_each.empty()) return nullptr;
  auto mixed = std::make_shared<MixedPods>();
  mixed->most_on_node = most_on_node(request.spread);
  for (const std::int64_t gpus : request.of_each)
    add_pods({.pods = 1, .gpus = countable_gpus(gpus)}, *mixed);
  return mixed;
}

}  // namespace

void Arrivals::note(const Queue& queue, const std::vector<Uid>& names, double now_s) {
  const double since_s = std::max(now_s - kArrivalsWindow_s, floor_s_);
  std::vector<Arrival> fresh;
  for (TaskIndex index = 0; index < queue.size(); ++index) {
    const QueueTask& task = queue.task(index);
    if (task.created_s <= since_s || task.created_s > now_s) continue;
    if (!known_.insert(names[index]).second) continue;
    fresh.push_back(
        {names[index], task.created_s, task.deadline_s, task.request, task.intent, task.account});
  }
  const bool some_are_old = !list_->tasks.empty() && list_->tasks.front().created_s <= since_s;
  if (fresh.empty() && !some_are_old) return;
  ArrivalList next;
  for (const Arrival& arrival : list_->tasks)
    if (arrival.created_s > since_s) next.tasks.push_back(arrival);
  next.tasks.insert(next.tasks.end(), fresh.begin(), fresh.end());
  std::sort(next.tasks.begin(), next.tasks.end(), earlier);
  if (next.tasks.size() > kMostArrivals) {
    const auto first_kept = next.tasks.end() - kMostArrivals;
    floor_s_ = std::prev(first_kept)->created_s;
    next.tasks.erase(next.tasks.begin(), first_kept);
  }
  next.window_s = std::min(kArrivalsWindow_s, now_s - floor_s_);
  known_.clear();  // tasks older than the window are left out
  for (const Arrival& arrival : next.tasks)
    known_.insert(arrival.task);
  list_ = std::make_shared<const ArrivalList>(std::move(next));
}

Expected expected_of(const ArrivalList& arrivals, TaskMenus& menus, const Queue& queue) {
  Expected expected{{}, arrivals.window_s};
  if (arrivals.window_s < kShortest_s) return expected;
  expected.tasks.reserve(arrivals.tasks.size());
  std::unordered_map<std::string_view, QueueNumber> numbers;
  for (const std::string& account : queue.queue_names())
    numbers.emplace(account, static_cast<QueueNumber>(numbers.size()));
  for (const Arrival& arrival : arrivals.tasks) {
    const TaskMenu& menu = menus.of(*arrival.intent, arrival.request);
    if (menu.menu->empty()) continue;
    PlanTask task;
    task.submit_s = arrival.created_s;
    task.deadline_s = arrival.deadline_s.value_or(kNoDeadline);
    task.qos = arrival.intent->qos_class.value_or(QosClass::kNormal);
    ask_for(arrival.request, menus.pools(), task);
    task.type = arrival.intent->workload().value_or("");
    task.preemptible = false;  // it only takes room
    task.queue = numbers.try_emplace(arrival.account, static_cast<QueueNumber>(numbers.size()))
                     .first->second;
    task.menu = menu.menu;
    task.preference = menu.preference;
    task.mixed = mixed_of(arrival.request);
    expected.tasks.push_back(std::move(task));
  }
  return expected;
}

}  // namespace slackline::core
