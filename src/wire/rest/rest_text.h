// The views of REST as text and tables, for people and spreadsheets.
#pragma once

#include <string>
#include <vector>

#include "slackline/model/decision.h"
#include "slackline/model/views.h"
#include "wire/format/text_table.h"

namespace slackline::wire {

std::string text_of(const ClusterView& view);
TextTable table_of(const std::vector<NodeView>& nodes);
TextTable table_of(const std::vector<TaskView>& tasks);
TextTable table_of(const std::vector<ScoreView>& nodes);
TextTable table_of(const std::vector<PlacementRow>& rows);
TextTable table_of(const std::vector<DecisionRow>& rows);

}  // namespace slackline::wire
