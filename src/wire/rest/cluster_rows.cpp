// The cluster, its GPU pools and its nodes.
#include "slackline/base/saturating.h"
#include "slackline/model/spared.h"
#include "wire/rest/cell_text.h"
#include "wire/rest/rows.h"

namespace slackline::wire {
namespace {

// "mig-1g.5gb" of "nvidia.com/mig-1g.5gb".
std::string short_name(const std::string& resource) {
  return printable(resource.substr(resource.rfind('/') + 1), 64);
}

// "8", or "8 gpu+7 mig-1g.5gb": of each resource.
auto gpus_shown(std::int64_t GpuUseView::* amount) {
  return [amount](const auto& row) {
    std::vector<std::string> parts;
    for (const GpuUseView& use : row.gpus)
      parts.push_back(row.gpus.size() == 1
                          ? std::to_string(use.*amount)
                          : format("{} {}", use.*amount, short_name(use.resource)));
    return join(parts, "+");
  };
}

// A field of the node itself.
template <class T>
auto of_node(T Node::* field) {
  return [field](const ListedNode& row) -> const T& { return row.node().*field; };
}

std::int64_t spared_gpus(const ListedNode& row) {
  std::int64_t gpus = 0;
  for (const GpuOccupantView& occupant : row.occupants)
    if (!occupant.spared.empty()) gpus += occupant.gpus;
  return gpus;
}

std::int64_t unhealthy_gpus(const ListedNode& row) {
  std::int64_t gpus = 0;
  for (const ResourceAmount& amount : row.node().unhealthy)
    gpus = saturating_add(gpus, amount.count);
  return gpus;
}

std::string node_state(const ListedNode& row) {
  const Node& node = row.node();
  if (!node.problems.empty()) return "unreadable: " + node.problems.front();
  if (!node.ready) return "not ready";
  std::string state = node.unschedulable ? "cordoned" : "ready";
  if (const std::int64_t gpus = unhealthy_gpus(row); gpus > 0)
    state += format(", {} unhealthy", counted(gpus, "GPU"));
  return state;
}

}  // namespace

template <>
const Columns<GpuUseView>& columns<GpuUseView>() {
  using C = Column<GpuUseView>;
  static const Columns<GpuUseView> kColumns = {
      "GpuUse",
      {
          C("resource", &GpuUseView::resource, "As nodes name it: nvidia.com/gpu"),
          C("sharing", &GpuUseView::sharing),
          C("allocatable", &GpuUseView::allocatable),
          C("used", &GpuUseView::used, "By bound pods"),
          C("held", &GpuUseView::held, "Promised to unbound pods by plans and nominations"),
          C("free", &GpuUseView::free,
            "Neither used nor held; negative: over-committed. Of a pool on usable nodes only"),
      }};
  return kColumns;
}

template <>
const Columns<GpuPoolView>& columns<GpuPoolView>() {
  using C = Column<GpuPoolView>;
  static const Columns<GpuPoolView> kColumns = {
      "GpuPool",
      {
          C("gpuType", &GpuPoolView::gpu_type, "Empty: the nodes have no known type")
              .cell("GPU TYPE", type_shown<GpuPoolView>()),
          C("nodes", &GpuPoolView::nodes).cell(">NODES"),
          C("nodesUsable", &GpuPoolView::nodes_usable, "Ready, schedulable and readable")
              .cell(">USABLE"),
          C::only_cell(">GPUS", gpus_shown(&GpuUseView::allocatable)),
          C::only_cell(">USED", gpus_shown(&GpuUseView::used)),
          C::only_cell(">HELD", gpus_shown(&GpuUseView::held)),
          C::only_cell(">FREE", gpus_shown(&GpuUseView::free)),
          C("cost", &GpuPoolView::cost, "Of a GPU, relative to other types").cell(">COST"),
          C("gpus", &GpuPoolView::gpus),
      }};
  return kColumns;
}

template <>
const Columns<CacheView>& columns<CacheView>() {
  using C = Column<CacheView>;
  static const Columns<CacheView> kColumns = {
      "Cache",
      {
          C("synced", &CacheView::synced, "The first list of the cluster is complete"),
          C("stale", &CacheView::stale, "Its answers are not relied on"),
          C("ageSeconds", &CacheView::age_s),
          C("detail", &CacheView::detail, "What is wrong; empty: nothing"),
      }};
  return kColumns;
}

template <>
const Columns<ClusterView>& columns<ClusterView>() {
  using C = Column<ClusterView>;
  static const Columns<ClusterView> kColumns = {
      "Cluster",
      {
          C("mode", &ClusterView::mode).one_of({"shadow", "advise", "active"}),
          C("version", &ClusterView::version, "Of the daemon"),
          C("snapshotVersion", &ClusterView::snapshot_version),
          C("cache", &ClusterView::cache),
          C("nodes", &ClusterView::nodes),
          C("podsBound", &ClusterView::pods_bound),
          C("podsUnbound", &ClusterView::pods_unbound),
          C("jobs", &ClusterView::jobs),
          C("models", &ClusterView::models, "Models with a known speed"),
          C("tasks", &ClusterView::tasks, "How many are in each state"),
          C("pools", &ClusterView::pools, "All nodes of one GPU type each"),
      }};
  return kColumns;
}

template <>
const Columns<GpuOccupantView>& columns<GpuOccupantView>() {
  using C = Column<GpuOccupantView>;
  static const Columns<GpuOccupantView> kColumns = {
      "GpuOccupant",
      {
          C("task", &GpuOccupantView::task, "NAMESPACE/NAME"),
          C(
              "pod", [](const GpuOccupantView& one) { return if_any(one.pod); },
              "NAMESPACE/NAME; absent: promised by a plan to a pod that is not there yet"),
          C("resource", &GpuOccupantView::resource),
          C("gpus", &GpuOccupantView::gpus),
          C("by", &GpuOccupantView::by,
            "plan: Slackline planned it; scheduler: kube-scheduler placed it, asking Slackline; "
            "other: another scheduler placed it; held: promised, not bound")
              .one_of({"plan", "scheduler", "other", "held"}),
          C(
              "spared", [](const GpuOccupantView& one) { return if_any(std::string(one.spared)); },
              "Why its run is not stopped so that others start: as in the queue; absent: it may "
              "be, or it is not there yet")
              .one_of(spared_codes()),
      }};
  return kColumns;
}

template <>
const Columns<ListedNode>& columns<ListedNode>() {
  using C = Column<ListedNode>;
  using Listed = const ListedNode&;
  static const Columns<ListedNode> kColumns = {
      "Node",
      {
          C("name", of_node(&Node::name)).cell("NODE"),
          C("gpuType", of_node(&Node::gpu_type), "Empty: unknown")
              .cell("GPU TYPE", [](Listed row) { return type_text(row.node().gpu_type); }),
          C("ready", of_node(&Node::ready)),
          C("unschedulable", of_node(&Node::unschedulable)),
          C("gpus", &ListedNode::gpus),
          C::only_cell(">GPUS", gpus_shown(&GpuUseView::allocatable)),
          C::only_cell(">USED", gpus_shown(&GpuUseView::used)),
          C::only_cell(">HELD", gpus_shown(&GpuUseView::held)),
          C::only_cell(">FREE", gpus_shown(&GpuUseView::free)),
          C("sparedGpus", spared_gpus, "In runs that are not stopped so that others start")
              .cell(">SPARED")
              .wide(),
          C("unhealthyGpus", unhealthy_gpus,
            "Of its capacity, not allocatable: the device plugin is down, or says that they are"),
          C::only_cell("STATE", node_state),
          C("cpuMilliAllocatable", [](Listed row) { return row.node().allocatable.cpu_milli; }),
          C("cpuMilliUsed", [](Listed row) { return row.state->used.cpu_milli; }),
          C("memoryBytesAllocatable",
            [](Listed row) { return row.node().allocatable.memory_bytes; }),
          C("memoryBytesUsed", [](Listed row) { return row.state->used.memory_bytes; }),
          C("podsAllocatable", [](Listed row) { return row.node().allocatable.pods; }),
          C("pods", [](Listed row) { return row.state->pods.size(); }),
          C("gpuPods", &ListedNode::gpu_pods, "NAMESPACE/NAME of the pods that use its GPUs")
              .cell("GPU PODS", [](Listed row) { return join(row.gpu_pods(), " "); }),
          C("occupants", &ListedNode::occupants, "Who has its GPUs, or was promised them"),
          C(
              "block", [](Listed row) { return if_any(row.block); },
              "Of the network, by topology.labels: tasks of several nodes are kept in one where "
              "there "
              "is room; absent: no label says it")
              .cell("BLOCK")
              .wide(),
          C("taints", &ListedNode::taints, "KEY=VALUE:EFFECT"),
          C("problems", of_node(&Node::problems), "Why it is not used"),
      }};
  return kColumns;
}

std::string text_of(const ClusterView& view) {
  std::string out = format(
      "mode {}, version {}, {} nodes, {} pods bound, {} unbound, {} Jobs, {} models\n", view.mode,
      view.version, view.nodes, view.pods_bound, view.pods_unbound, view.jobs, view.models);
  const CacheView& cache = view.cache;
  out += format("cache {}{}, age {}\n", cache.synced ? "synced" : "not synced",
                cache.stale ? ", STALE: " + printable(cache.detail, 512) : "",
                format_duration(cache.age_s));
  if (!cache.stale && !cache.detail.empty())
    out += format("note: {}\n", printable(cache.detail, 512));
  for (const auto& [state, count] : view.tasks)
    out += format("tasks {}: {}\n", state, count);
  return out + "\n" + table_of(view.pools).str();
}

}  // namespace slackline::wire
