#include "control/plan/plan_doubts.h"

#include "obs/log.h"

namespace slackline::control {

void PlanDoubts::on_plan_doubted(const std::string& kind, const ObjectKey& carrier,
                                 PlanDoubt doubt) {
  metrics_.counter("slackline_plans_disbelieved_total", {{"reason", to_string(doubt)}}).add();
  obs::log_warning("plan_disbelieved", {{"kind", kind},
                                        {"object", carrier.str()},
                                        {"reason", to_string(doubt)},
                                        {"effect", "it holds nothing and is removed"}});
}

}  // namespace slackline::control
