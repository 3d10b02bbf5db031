// Eligibility: which nodes the pods of a task may use, and which they should rather use.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_set>
#include <vector>

#include "slackline/core/cluster/queue.h"
#include "slackline/core/cluster/room.h"
#include "slackline/core/planning/mixed_pods.h"

namespace slackline::core {

// Everything that eligibility depends on, as a key.
std::string eligibility_key(const Pod& member);

// GPUs, by pool and node of it.
std::vector<std::vector<int>> free_by_pool(const std::vector<QueuePool>& pools,
                                           const RoomTable& room);

// One of them waits, and names GPU types in order.
bool any_prefers_types(const std::vector<QueueTask>& tasks);

// By pool.
std::vector<NodeSet> nodes_named(const ClusterSnapshot& snapshot,
                                 const std::vector<QueuePool>& pools,
                                 const std::unordered_set<NodeName>& names);

// Of one snapshot; computed once for all equal tasks. All references outlive it.
class Eligibility {
 public:
  // `now`: what is free now; `later`: once GPU pods have ended, by which nodes are judged for those
  // who `foresee`; null: nobody asks for it. `refused`: null = none.
  Eligibility(const ClusterSnapshot& snapshot, const std::vector<QueuePool>& pools,
              const RoomTable& now, const RoomTable* later, bool foresee,
              const RefusedNodes* refused)
      : snapshot_(snapshot),
        pools_(pools),
        now_(now),
        later_(later),
        room_(foresee ? *later : now),
        room_is_later_(foresee),
        refused_(refused) {}

  // Null: every node.
  EligibleNodesPtr of(const QueueTask& task);
  // Null: its pods are equal. Of a run it says nothing of nodes: they are known.
  std::shared_ptr<const MixedPods> mixed(const QueueTask& task);
  // Sets TaskRequest::out_of_reach, where all that the menu offers is: the model that predicts its
  // run time knows no type that it may use.
  void stay_in_reach(QueueTask& task, const PlacementMenu& menu);
  // What a task of equal pods asks for where they are planned one by one, like those that differ,
  // because no nodes that it may use take as many each: none could, or, where it `may_start`, none
  // has room now and others have. Whether they could hold it so, could_hold says. Where it has a
  // `place` (null: none): as it runs there. nullopt: they are not. `even`: its menu as it is; where
  // that knows from a model what each shape takes, the task waits for one of them.
  std::optional<TaskRequest> one_by_one(const QueueTask& task, const TaskMenu& even,
                                        const PlanNote* place, bool may_start);
  // Its pods, one by one, were the GPUs of the nodes free. `menu`: of this request.
  bool could_hold(const QueueTask& task, const TaskRequest& request, const PlacementMenu& menu);
  // What all of them may use.
  EligibleNodesPtr of_all(const MixedPods& mixed) const;
  // GPU types, as pools, without those of which no nodes could ever take it: it does not wait for
  // these.
  std::vector<PoolIndex> usable_of(std::vector<PoolIndex> preference, const QueueTask& task,
                                   const PlanTask& planned);
  // Sets PlanTask::later, and if_stopped.
  void look_ahead(EligibleNodesPtr later, PlanTask& described);
  // A node that has room for it takes it, as far as anybody knows: kube-scheduler has refused it
  // nowhere, and it asks for nothing that no node lists.
  bool is_bound_where_it_fits(const QueueTask& task) const;
  // Those that were set aside for tasks of which nothing is known (profiling.h); null: none were.
  const EligibleNodesPtr& profilers();

 private:
  using NodeCheck = std::function<bool(const NodeName&)>;
  using Names = std::unordered_set<NodeName>;
  using NamesPtr = std::shared_ptr<const Names>;
  // Null: nothing.
  NodeCheck left_out_for(const QueueTask& task);
  NodeCheck slow_or_refused_for(const QueueTask& task) const;
  // Null: none.
  const TaskRefusals* refusals_of(const QueueTask& task) const;
  // As rules between pods call it (predicates.h).
  using Domain = std::vector<std::string>;
  // Of a task whose pods must be in one (OwnSpread::together): where it runs; else one that has
  // room for it now, as little more as there is; else the one that has room for most. nullopt: none
  // could hold it.
  std::optional<Domain> domain_for(const QueueTask& task, const NodeCheck& left_out);
  // Of a task whose pods are spread over the values of a label (OwnSpread::apart): a node for each
  // pod, as they may be, by GPU type, those that have room now if they are enough; every node,
  // where it starts later. Null: the rule is left to kube-scheduler, because the pods differ, must
  // be together too, or share nodes.
  NamesPtr spread_over(const QueueTask& task, const NodeCheck& left_out);
  std::set<std::string> domains_of(const Pod& member, const std::string& label) const;
  void add_spread(const QueueTask& task, PoolIndex pool, const std::set<std::string>& domains,
                  const NodeCheck& left_out, Names& nodes);
  void add_all(PoolIndex pool, Names& nodes) const;
  EligibleNodesPtr without(const NodeCheck& left_out, const EligibleNodesPtr& eligible) const;
  // `shared`: what such pods ask for that may share nodes; null: each is placed by itself.
  const EligibleNodesPtr& of(const Pod& member, const TaskRequest* shared = nullptr);
  EligibleNodesPtr find(const Pod& member, const TaskRequest* shared) const;
  // Without the nodes that are left out for the task.
  EligibleNodesPtr left_to(const QueueTask& task, const TaskRequest* shared);
  // Now there is room for its pods, and not for as many on each node.
  bool has_room_one_by_one(const TaskRequest& request, const PlacementMenu& even,
                           const EligibleNodes* eligible);
  // `least`: the fewest GPUs that the task needs on a node. Null: as now.
  EligibleNodesPtr if_stopped(const EligibleNodesPtr& now, const EligibleNodesPtr& later,
                              int least);
  const FreeGpus& free_now();
  const FreeGpus& all_gpus();
  // Where several pods of the request share a node.
  void add_several(const Pod& member, const TaskRequest& shared, EligibleNodes& eligible) const;
  std::vector<NodeSet> usable(const Pod& member, std::int64_t pods, const RoomTable& room) const;

  const ClusterSnapshot& snapshot_;
  const std::vector<QueuePool>& pools_;
  const RoomTable& now_;
  const RoomTable* later_;
  const RoomTable& room_;
  const bool room_is_later_;
  const RefusedNodes* refused_;
  std::optional<FreeGpus> free_now_;  // made when first needed
  std::optional<FreeGpus> all_gpus_;  // likewise
  std::map<std::string, EligibleNodesPtr> known_;
  std::map<std::string, NamesPtr> spread_;             // spread_over()
  std::map<std::string, std::vector<bool>> in_reach_;  // by pool: a node of it takes such a pod
  std::map<std::string, EligibleNodes> known_later_;   // of a pod by itself
  std::map<std::tuple<EligibleNodesPtr, EligibleNodesPtr, int>, EligibleNodesPtr> if_stopped_;
  EligibleNodesPtr profilers_;
};

}  // namespace slackline::core
