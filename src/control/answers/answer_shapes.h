// How core's answers become views: times beyond the horizon are left out, and so are the names of
// tasks that the viewer may not see. Pure, but for what the viewer asks; private to answers/.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "control/answers/answer_query.h"
#include "control/answers/viewer.h"
#include "message/answer_views.h"
#include "message/queue_view.h"
#include "slackline/core/answers/changes.h"
#include "slackline/core/answers/explain.h"
#include "slackline/core/planning/rollout.h"
#include "slackline/core/shadow/stock_queue.h"

namespace slackline::control {

SpanView span_of(const core::Quantiles& times);
SpanView span_of(std::optional<double> p50_s, std::optional<double> p90_s);

// Of a Job that waits for Kueue, or another controller, and is not in the queue; nullopt: it is no
// such Job.
std::optional<ExplainView> left_to_others(const ClusterSnapshot& snapshot, const ObjectKey& key,
                                          double now_s);

// Whether Slackline would not plan the task if it were created: then the view is told why not,
// where that is known here. `stock_waits` as in PlannerOptions.
bool is_left_alone(const PostedTask& posted, const ClusterSnapshot& snapshot,
                   std::optional<core::StockScope> stock_waits, QuoteView& view);
// What it would take is known; when it starts is nobody's to say here.
void leave_to_others(QuoteView& view);

// Times and state of a row of the queue.
EtaView eta_of(const QueueRow& row, double now_s);

BlockerView view_of(const core::Blocker& blocker, Viewer& viewer);
NodeGroupView view_of(const core::NodeGroup& group, Viewer& viewer);
// The task that would give way is named only to who may see it.
ChangeView view_of(const core::Change& change, Viewer& viewer);

// "unknown" where no label tells.
std::string type_text(const GpuType& type);

// Of a Job whose pods start one by one, quoted for one of them, whose deadline is `later_s`
// earlier.
std::string one_by_one_text(const Job& job, double later_s);

}  // namespace slackline::control
