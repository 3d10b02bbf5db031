#include "control/state/check_settings.h"

#include <set>
#include <string>
#include <utility>

#include "slackline/base/text.h"
#include "slackline/core/planning/gpu_types.h"

namespace slackline::control {

namespace {

void check_moves(const Settings& settings, config::Findings& findings) {
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
  if (look("queue.rescheduling", settings.queues.defaults)) return;
  for (const auto& [name, rules] : settings.queues.named)
    look(format("queues[name={}].rescheduling", name), rules);
}

void check_type(const GpuType& type, const std::string& path, const GpuCatalog& catalog,
                config::Findings& findings) {
  if (catalog.type(type) == nullptr)
    findings.push_back({config::Severity::kWarning, 0, path, "is a GPU type that no rule names",
                        "write it as `slackline cluster` lists the types of the nodes"});
}

void check_order(const QueueRules& rules, const std::string& path, const GpuCatalog& catalog,
                 config::Findings& findings) {
  for (const GpuType& written : rules.gpu_types)
    check_type(core::resolved_type(written, catalog),
               format("{}.gpuTypes: {}", path, printable(written.str(), 64)), catalog, findings);
}

void check_types(const QueueRulebook& queues, const GpuCatalog& catalog,
                 config::Findings& findings) {
  check_order(queues.defaults, "queue", catalog, findings);
  for (const auto& [queue, rules] : queues.named) {
    if (rules.gpu_types != queues.defaults.gpu_types)
      check_order(rules, format("queues[name={}]", queue), catalog, findings);
    std::set<GpuType> given;
    for (const auto& [name, share] : rules.shares) {
      const GpuType type = core::resolved_type(GpuType(name), catalog);
      const std::string path = format("queues[name={}].shares.{}", queue, printable(name, 64));
      check_type(type, path, catalog, findings);
      if (!given.insert(type).second)
        findings.push_back({config::Severity::kWarning, 0, path,
                            format("is {} once more: both count together", type.str()),
                            "write one line for the type"});
    }
  }
}

}  // namespace

config::Findings check_settings(const Settings& settings, const GpuCatalog& catalog) {
  config::Findings findings;
  check_moves(settings, findings);
  check_types(settings.queues, catalog, findings);
  return findings;
}

}  // namespace slackline::control
