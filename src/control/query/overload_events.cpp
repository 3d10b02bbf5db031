#include "control/query/overload_events.h"

#include <algorithm>
#include <set>
#include <utility>

#include "slackline/base/duration.h"
#include "slackline/base/text.h"
#include "slackline/model/reason.h"

namespace slackline::control {
namespace {

std::string text_of(const QueueLoad& load) {
  return format(
      "queue {}: all {} waiting tasks with a deadline ahead will be late; until the last of their "
      "deadlines, {}, running and waiting tasks need {:.1f} GPU-hours, and the cluster has {:.1f}",
      printable(load.queue, 64), load.late.size(), format_rfc3339(load.until_s), load.demand_gpu_h,
      load.capacity_gpu_h);
}

// On the first late one of each namespace; true once all are posted.
bool post_all(const QueueLoad& load, const QueueEvents::Post& post) {
  std::set<std::string> namespaces;
  for (const QueueRow* row : load.late) {
    if (row->uid.empty() || namespaces.contains(row->key.ns)) continue;
    if (namespaces.size() == kMostNamespaces) break;
    if (!post(event_on(*row, reason::kOverloaded, text_of(load), /*warning=*/true))) return false;
    namespaces.insert(row->key.ns);
  }
  return true;
}

}  // namespace

void OverloadEvents::look(const std::vector<QueueLoad>& loads, double now_s,
                          const QueueEvents::Post* post) {
  std::set<std::string> judged;
  for (const QueueLoad& load : loads) {
    judged.insert(load.queue);
    if (load.overloaded()) queues_[load.queue].overloaded = true;
    const auto at = queues_.find(load.queue);
    if (at == queues_.end()) continue;
    Queue& queue = at->second;
    if (load.well()) queue.overloaded = queue.posted = false;
    if (!load.overloaded() || queue.posted || post == nullptr || now_s < queue.quiet_until_s)
      continue;
    queue.posted = post_all(load, *post);
    if (queue.posted) queue.quiet_until_s = now_s + kOverloadQuiet_s;
  }
  for (auto& [name, queue] : queues_)
    if (!judged.contains(name)) queue.overloaded = queue.posted = false;
  std::erase_if(queues_, [now_s](const auto& each) {
    return !each.second.overloaded && each.second.quiet_until_s <= now_s;
  });
  show();
}

void OverloadEvents::show() {
  std::map<std::string, double> now;
  for (const auto& [name, queue] : queues_)
    if (queue.overloaded) now[names_.admit(name)] = 1;
  for (const auto& [name, gauge] : shown_)
    gauge.set(now[name]);
  for (const auto& [name, value] : now) {
    if (shown_.contains(name)) continue;
    const obs::Gauge gauge = metrics_.gauge("slackline_queue_overloaded", {{"queue", name}});
    gauge.set(value);
    shown_.emplace(name, gauge);
  }
}

}  // namespace slackline::control
