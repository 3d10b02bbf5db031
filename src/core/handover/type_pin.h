// Keeping a task's pods on the GPU type of its plan, by required node affinity.
#pragma once

#include <optional>
#include <vector>

#include "slackline/model/gpu_catalog.h"
#include "slackline/model/snapshot.h"

namespace slackline::core {

// The common label of all nodes of the type, by the key that names the type of the planned ones;
// nullopt if the planned nodes do not share such a label.
std::optional<MatchExpression> type_requirement(const ClusterSnapshot& snapshot,
                                                const GpuCatalog& catalog,
                                                const std::vector<NodeIndex>& of_type,
                                                const std::vector<NodeIndex>& planned);

// Every alternative, and the type.
std::vector<NodeSelectorTerm> narrowed(std::vector<NodeSelectorTerm> terms,
                                       const MatchExpression& type);

// True if there are alternatives and each of them asks for no other type.
bool is_narrowed(const std::vector<NodeSelectorTerm>& terms, const MatchExpression& type);

}  // namespace slackline::core
