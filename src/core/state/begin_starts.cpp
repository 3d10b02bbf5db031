#include <algorithm>

#include "slackline/base/text.h"
#include "slackline/core/queue.h"

namespace slackline::core {
namespace {

// One entry per pod; pods that share a node stand together.
std::vector<NodeName> nodes_of(const ClusterSnapshot& snapshot, const QueuePool& pool,
                               const Run& run, std::int64_t pods) {
  const std::size_t per_node = static_cast<std::size_t>(pods) / run.nodes.size();
  std::vector<NodeName> nodes;
  for (const PoolNode node : run.nodes)
    nodes.insert(nodes.end(), per_node, snapshot.node(pool.nodes[node]).node->name);
  return nodes;
}

// What all nodes of the type have in common, by the label that tells the type of the planned ones;
// nullopt where the planned nodes do not share such a label.
std::optional<MatchExpression> type_requirement(const ClusterSnapshot& snapshot,
                                                const GpuCatalog& catalog, const QueuePool& pool,
                                                const Run& run) {
  const auto label_of = [&](NodeIndex node, const std::string& key) {
    return find_label(snapshot.node(node).node->labels, key);
  };
  for (const std::string& key : catalog.type_labels) {
    const bool shared = std::all_of(run.nodes.begin(), run.nodes.end(), [&](PoolNode node) {
      return label_of(pool.nodes[node], key) != nullptr;
    });
    if (!shared) continue;
    MatchExpression in{key, MatchOperator::kIn, {}};
    for (const NodeIndex node : pool.nodes)
      if (const std::string* value = label_of(node, key)) in.values.push_back(*value);
    std::sort(in.values.begin(), in.values.end());
    in.values.erase(std::unique(in.values.begin(), in.values.end()), in.values.end());
    return in;
  }
  return std::nullopt;
}

std::vector<NodeSelectorTerm> written_terms(const QueueTask& task) {
  return task.member.constraints ? task.member.constraints->affinity_terms
                                 : std::vector<NodeSelectorTerm>{};
}

// Every alternative of the task, and the type.
std::vector<NodeSelectorTerm> narrowed(std::vector<NodeSelectorTerm> terms,
                                       const MatchExpression& type) {
  if (terms.empty()) terms.emplace_back();
  for (NodeSelectorTerm& term : terms)
    term.push_back(type);
  return terms;
}

bool offers_several_types(const PlacementMenu& menu) {
  return std::any_of(menu.all.begin(), menu.all.end(),
                     [&](const Choice& choice) { return choice.pool != menu.all.front().pool; });
}

class StartWriter {
 public:
  StartWriter(const ClusterSnapshot& snapshot, const Queue& queue, const GpuCatalog& catalog,
              PlanStamp& stamp)
      : snapshot_(snapshot), queue_(queue), catalog_(catalog), stamp_(stamp) {}

  void begin(TaskIndex index, const Run& run) {
    const QueueTask& task = queue_.task(index);
    const Choice& choice = queue_.state().choice(index, run.choice);
    const QueuePool& pool = queue_.pools()[choice.pool];
    const std::int64_t pods = task.shape_is_free ? choice.shape.d_node : task.request.pods;
    PlanNote note;
    note.id = stamp_.next_id();
    note.epoch = stamp_.epoch;
    note.shape = choice.shape;
    note.gpu_type = pool.pool.type;
    note.promoted = run.promoted;
    note.nodes = nodes_of(snapshot_, pool, run, pods);
    const auto plan = std::make_shared<const PlanNote>(std::move(note));
    if (task.job)
      release(index, run, plan);
    else
      for (const PodPtr& pod : task.pods) {
        writes.push_back(pod_write(OwnWriteKind::kPlanPod, *pod));
        writes.back().plan = plan;
      }
  }

  std::vector<OwnWrite> writes;

 private:
  void release(TaskIndex index, const Run& run, const std::shared_ptr<const PlanNote>& plan) {
    const QueueTask& task = queue_.task(index);
    const Job& job = *task.job;
    OwnWrite write = job_write(OwnWriteKind::kReleaseJob, job);
    write.plan = plan;
    // A Job whose pods exist keeps its template.
    if (job.suspended) shape(index, run, write);
    writes.push_back(std::move(write));
  }

  // Fields are written where they differ from the Job's present ones; what was written first stays
  // in `original`.
  void shape(TaskIndex index, const Run& run, OwnWrite& write) const {
    const QueueTask& task = queue_.task(index);
    const Job& job = *task.job;
    const Choice& choice = queue_.state().choice(index, run.choice);
    OriginalShape original = job.original ? *job.original : OriginalShape{};
    const std::int64_t pods = task.shape_is_free ? choice.shape.d_node : task.request.pods;
    const std::int64_t gpus = task.shape_is_free ? choice.shape.d_gpn : task.request.gpus;
    const bool other_gpus = gpus != job.pod_requests.gpu_count(task.request.resource);
    if (task.request.nodes_may_change && (pods != job.parallelism || other_gpus)) {
      write.reshape = Reshape{pods, gpus, task.request.resource, ""};
      if (!original.parallelism) original.parallelism = job.parallelism;
    } else if (other_gpus) {
      write.reshape = Reshape{job.parallelism, gpus, task.request.resource, ""};
    }
    if (other_gpus) {
      write.reshape->container = job.gpu_container;
      if (!original.gpus) original.gpus = job.pod_requests.gpu_count(task.request.resource);
    }
    pin_type(index, run, original, write);
    const bool kept = original.parallelism || original.gpus || original.affinity_terms;
    if (kept) write.original = std::make_shared<const OriginalShape>(std::move(original));
  }

  void pin_type(TaskIndex index, const Run& run, OriginalShape& original, OwnWrite& write) const {
    const QueueTask& task = queue_.task(index);
    const PlacementMenu& menu = *queue_.state().tasks()[index].menu;
    const QueuePool& pool = queue_.pools()[menu.all[run.choice].pool];
    if (!offers_several_types(menu) && !original.affinity_terms) return;
    const auto type = type_requirement(snapshot_, catalog_, pool, run);
    if (!type) return;
    if (!original.affinity_terms) original.affinity_terms = written_terms(task);
    write.affinity_terms = narrowed(*original.affinity_terms, *type);
  }

  const ClusterSnapshot& snapshot_;
  const Queue& queue_;
  const GpuCatalog& catalog_;
  PlanStamp& stamp_;
};

}  // namespace

std::string PlanStamp::next_id() {
  return format("p{}-{}", epoch, next_number++);
}

std::vector<OwnWrite> begin_starts(const ClusterSnapshot& snapshot, const Queue& queue,
                                   const Plan& plan, const GpuCatalog& catalog, PlanStamp& stamp) {
  StartWriter writer(snapshot, queue, catalog, stamp);
  for (const JobPtr& job : queue.to_open())
    writer.writes.push_back(job_write(OwnWriteKind::kOpenJob, *job));
  for (const PodPtr& pod : queue.to_let_go())
    writer.writes.push_back(pod_write(OwnWriteKind::kLiftGate, *pod));
  for (const Effect& effect : plan.effects)
    if (effect.is_start()) writer.begin(effect.task, *effect.begun);
  return std::move(writer.writes);
}

}  // namespace slackline::core
