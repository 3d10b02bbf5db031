// Reports: what runs asked for, held and used, from the history and the advice for their families.
//
// Thread-safe.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "control/query/queries.h"
#include "control/query/report_maker.h"
#include "control/query/shadow_report.h"
#include "slackline/base/clock.h"
#include "slackline/base/published.h"

namespace slackline::core {
struct PortraitBook;
}

namespace slackline::control {

// The advice of the book for runs of history: how many GPUs are enough.
GpusNeeded gpus_needed_by(std::shared_ptr<const core::PortraitBook> book, double now_s);

class Reports {
 public:
  // All outlive it. `idle`: who holds GPUs without using them; null: nobody measures.
  Reports(const Queries& queries, const Published<core::PortraitBook>& portraits,
          const Clock& clock, const Published<std::vector<IdleHolder>>* idle = nullptr)
      : queries_(queries), portraits_(portraits), clock_(clock), idle_(idle) {}

  // Reads the whole window. kUnavailable: there is no history.
  Result<ReportView> make(const ReportQuestion& question) const;
  // The same of what happened beside what the planner would have done.
  Result<ShadowReportView> make(const ShadowQuestion& question) const;

 private:
  // Every task of the history that ended since then.
  Status each(const std::string& ns, double since_s,
              const std::function<void(const FinishedTask&)>& look) const;

  const Queries& queries_;
  const Published<core::PortraitBook>& portraits_;
  const Clock& clock_;
  const Published<std::vector<IdleHolder>>* const idle_;
};

}  // namespace slackline::control
