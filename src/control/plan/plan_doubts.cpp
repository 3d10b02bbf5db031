#include "control/plan/plan_doubts.h"

#include "obs/log.h"

namespace slackline::control {
namespace {

constexpr double kQuiet_s = 10;

}  // namespace

PlanDoubts::PlanDoubts(obs::MetricsRegistry& metrics, const Clock& clock)
    : metrics_(metrics), clock_(clock) {}

void PlanDoubts::on_plan_doubted(const std::string& kind, const ObjectKey& carrier,
                                 PlanDoubt doubt) {
  metrics_
      .counter("slackline_plans_disbelieved_total", "Plans that do not count, by what is wrong.",
               {{"reason", to_string(doubt)}})
      .add();
  {
    MutexLock lock(mutex_);
    const double now_s = clock_.steady_s();
    if (now_s < quiet_until_s_) return;
    quiet_until_s_ = now_s + kQuiet_s;
  }
  obs::log_warning("plan_disbelieved", {{"kind", kind},
                                        {"object", carrier.str()},
                                        {"reason", to_string(doubt)},
                                        {"effect", "it holds nothing and is removed"}});
}

}  // namespace slackline::control
