#include "control/state/check_settings.h"

#include <string>
#include <utility>

#include "slackline/base/text.h"

namespace slackline::control {

config::Findings check_settings(const Settings& settings) {
  config::Findings findings;
  // False: nothing is wrong with them.
  const auto look = [&](std::string path, const QueueRules& rules) {
    if (rules.rescheduling != Rescheduling::kAuto) return false;
    std::string why;
    std::string_view allow;
    if (!settings.policy.preempts()) {
      why = format("the policy {} stops no task", settings.policy.name);
      allow = "choose a policy that preempts (planner.policy: default)";
    } else if (!rules.preemptible) {
      why = "the queue is not preemptible";
      allow = "let its tasks be stopped (preemption.preemptible: true)";
    } else if (rules.notice_s > 0) {
      why = "the queue asks for notice, which moves do not give";
      allow = "let its tasks be stopped at once (preemption.notice: 0s)";
    } else {
      return false;
    }
    findings.push_back({config::Severity::kWarning, 0, std::move(path),
                        format("is auto, but {}: moves are only advised", why),
                        format("{}, or rescheduling: advise", allow)});
    return true;
  };
  if (look("queue.rescheduling", settings.queues.defaults)) return findings;
  for (const auto& [name, rules] : settings.queues.named)
    look(format("queues[name={}].rescheduling", name), rules);
  return findings;
}

}  // namespace slackline::control
