// The views of REST as text tables, for `Accept: text/plain` and the command line.
#pragma once

#include <string>
#include <vector>

#include "slackline/model/decision.h"
#include "slackline/model/views.h"

namespace slackline::wire {

std::string text_of(const ClusterView& view);
std::string text_of(const std::vector<NodeView>& nodes);
std::string text_of(const std::vector<TaskView>& tasks);
std::string text_of(const std::vector<ScoreView>& nodes);
std::string text_of(const std::vector<PlacementRow>& rows);
std::string text_of(const std::vector<DecisionRow>& rows);

}  // namespace slackline::wire
