#include "slackline/model/node_table.h"

#include <algorithm>

#include "slackline/base/saturating.h"
#include "slackline/base/words.h"
#include "slackline/model/contract.h"

namespace slackline {
namespace {

class TableMaker {
 public:
  explicit TableMaker(std::size_t nodes) { table_.rows.reserve(nodes); }

  void add(const NodeState& state, std::size_t nodes) {
    const Resources& all = state.node->allocatable;
    const auto index = table_.rows.size();
    NodeRow& row = table_.rows.emplace_back();
    row.cpu_milli = all.cpu_milli;
    row.memory_bytes = all.memory_bytes;
    row.cpu_milli_free = saturating_sub(all.cpu_milli, state.used.cpu_milli);
    row.memory_bytes_free = saturating_sub(all.memory_bytes, state.used.memory_bytes);
    row.pods_free = saturating_sub(all.pods, state.used.pods);
    row.type = type_index(state.node->gpu_type);
    row.readable = state.node->problems.empty();
    const std::string* profiler = find_label(state.node->labels, contract::kProfilerLabel);
    row.profiler = profiler != nullptr && *profiler == "true";
    table_.any_profiler |= row.profiler;
    for (const ResourceAmount& amount : all.gpus) {
      GpuCell& cell = cells(amount.resource, nodes)[index];
      cell.allocatable = cell.free = amount.count;
    }
    for (const ResourceAmount& amount : state.used.gpus) {
      GpuCell& cell = cells(amount.resource, nodes)[index];
      cell.free = saturating_sub(cell.free, amount.count);
    }
    for (const ResourceAmount& amount : all.others)
      if (amount.count > 0 && !table_.lists(amount.resource))
        table_.others.push_back(amount.resource);
  }

  NodeTable take() { return std::move(table_); }

 private:
  std::uint32_t type_index(const GpuType& type) {
    const auto at = std::find(table_.types.begin(), table_.types.end(), type);
    const auto index = static_cast<std::uint32_t>(at - table_.types.begin());
    if (at == table_.types.end()) table_.types.push_back(type);
    return index;
  }

  std::vector<GpuCell>& cells(const std::string& resource, std::size_t nodes) {
    for (auto& [name, cells] : table_.gpus)
      if (name == resource) return cells;
    return table_.gpus.emplace_back(resource, std::vector<GpuCell>(nodes)).second;
  }

  NodeTable table_;
};

}  // namespace

const std::vector<GpuCell>* NodeTable::cells(std::string_view resource) const {
  for (const auto& [name, cells] : gpus)
    if (name == resource) return &cells;
  return nullptr;
}

bool NodeTable::lists(std::string_view other) const {
  return std::any_of(others.begin(), others.end(),
                     [&](const std::string& name) { return same_name(name, other); });
}

NodeTable make_node_table(const std::vector<NodeStatePtr>& nodes) {
  TableMaker maker(nodes.size());
  for (const NodeStatePtr& state : nodes)
    maker.add(*state, nodes.size());
  return maker.take();
}

}  // namespace slackline
