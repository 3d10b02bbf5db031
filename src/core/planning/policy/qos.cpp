// qos: the policy of 000 section 4.2, to the letter, for comparison.
//
//   o(t)  = the best CER among the placements that meet the deadline (eq 15), else of all
//   w(t)  = deadline - now - Lat(t, o)                                    (eq 16)
//   order = w ascending, then submit, id; the first that does not fit ends the call
//
// /skip goes on behind a task that does not fit. /yield does too, and tasks that no placement saves
// go last, except Urgent ones: the literal order serves them first and makes all others late.
#include <algorithm>
#include <tuple>

#include "policies.h"
#include "slackline/core/planning/deadline.h"

namespace slackline::core {
namespace {

// What happens when the next task in order cannot start.
enum class Blocked {
  kEnds,   // no task behind it is served
  kSkips,  // the next one is tried
  kYields  // as kSkips, and tasks beyond rescue go last
};

struct QosOptions {
  Blocked blocked = Blocked::kEnds;
};

constexpr PolicyVariant<QosOptions> kBlocking[] = {
    {"skip", [](QosOptions& options) { options.blocked = Blocked::kSkips; }},
    {"yield", [](QosOptions& options) { options.blocked = Blocked::kYields; }},
};

struct RankedTask {
  TaskIndex task;
  ChoiceIndex choice;
  bool last;       // beyond rescue, and yields
  double slack_s;  // w
};

RankedTask queued(const Planning& planning, TaskIndex index, Blocked blocked) {
  const PlanTask& task = planning.task(index);
  const PlacementMenu& menu = planning.menu(index);
  const double room_s = task.deadline_s - planning.now_s() + kDeadlineTolerance_s;
  const auto met = std::find_if(menu.by_cer.begin(), menu.by_cer.end(), [&](ChoiceIndex choice) {
    return planning.lat_s(index, menu.all[choice]) <= room_s;
  });
  const bool late = met == menu.by_cer.end();
  const ChoiceIndex choice = late ? menu.by_cer.front() : *met;
  const double slack_s =
      task.deadline_s - planning.now_s() - planning.lat_s(index, menu.all[choice]);
  const bool yields = blocked == Blocked::kYields && task.qos != QosClass::kUrgent;
  return {index, choice, late && yields, slack_s};
}

void serve_qos(Planning& planning, const QosOptions& options) {
  if (planning.idle() == 0) return;
  std::vector<RankedTask> queue;
  for (const TaskIndex task : planning.state().waiting())
    queue.push_back(queued(planning, task, options.blocked));
  const auto key = [&](const RankedTask& entry) {
    const PlanTask& task = planning.task(entry.task);
    return std::tuple(entry.last, entry.slack_s, task.submit_s, task.id);
  };
  std::sort(queue.begin(), queue.end(),
            [&](const RankedTask& a, const RankedTask& b) { return key(a) < key(b); });
  for (const RankedTask& entry : queue) {
    const Choice& chosen = planning.menu(entry.task).all[entry.choice];
    if (planning.fits(entry.task, chosen))
      planning.start(entry.task, entry.choice);
    else if (options.blocked == Blocked::kEnds && planning.state().may_use(entry.task, chosen))
      return;
  }
}

}  // namespace

PolicyKind qos_kind() {
  return kind_of<QosOptions>({"qos", "qos", serve_qos, kBlocking});
}

}  // namespace slackline::core
