// A whole cluster: what decodes is queued, planned, filtered, scored, preempted for and forecast,
// in memory and time that follow the objects that there are, whatever numbers are written in them.
//
// The input is a dump (it begins with a brace), else the choices that one is made of.
#include <algorithm>

#include "fuzz/fuzz.h"
#include "fuzz/random_dump.h"
#include "slackline/core/cluster/placement_table.h"
#include "slackline/core/cluster/task_catalog.h"
#include "slackline/core/handover/begin_starts.h"
#include "slackline/core/handover/hand_over.h"
#include "slackline/core/planning/rollout.h"
#include "slackline/core/planning/shapes.h"
#include "slackline/core/verbs/filter.h"
#include "slackline/core/verbs/score.h"
#include "slackline/core/verbs/victims.h"
#include "support/cluster_builder.h"
#include "wire/kube/kube_decode.h"

using namespace slackline;
using namespace slackline::fuzz;

namespace {

constexpr double kNow_s = 1.8e9;
constexpr std::size_t kAskers = 4;         // pods that the verbs are asked for
constexpr std::size_t kForecastAsks = 64;  // calls of the policy, of all futures together

const GpuCatalog& catalog() {
  static const GpuCatalog kCatalog = default_gpu_catalog();
  return kCatalog;
}

std::shared_ptr<const core::Predictor> predictor() {
  static const auto kPredictor = std::make_shared<const core::Predictor>(
      WorkloadProfiles({{"bert", GpuType("A100"), {"S", {10, 1, 0, 0.1, 1.4}}, 30, 12, {}, ""},
                        {"bert", GpuType("T4"), {"S", {3, 1, 0, 0.1, 1.4}}, 30, 12, {}, ""}}));
  return kPredictor;
}

ClusterSnapshot cluster_of(const wire::KubeList& list) {
  test::ClusterBuilder cluster;
  for (const wire::KubeObject& object : list.items) {
    if (const auto* node = std::get_if<Node>(&object)) cluster.add(*node);
    if (const auto* pod = std::get_if<Pod>(&object)) cluster.add(*pod);
    if (const auto* job = std::get_if<Job>(&object)) cluster.add(*job);
  }
  return cluster.build();
}

void plan_and_forecast(const ClusterSnapshot& snapshot) {
  core::QueueOptions options;
  options.catalog = &catalog();
  options.predictor = predictor();
  options.now_wall_s = kNow_s;
  options.may_stop = true;
  core::TaskMenus menus;
  core::Queue queue = core::make_queue(snapshot, options, menus);
  const auto nodes = static_cast<std::int64_t>(snapshot.nodes.size());
  require(queue.state().free().total() <= nodes * 4096, "no node has more GPUs than any has");
  static const core::Policy kPolicy = *core::parse_policy("default");
  std::vector<core::TaskIndex> asked(queue.state().waiting().begin(),
                                     queue.state().waiting().end());
  std::size_t asks = 0;
  core::RolloutOptions forecast;
  forecast.resolution = 0.1;
  forecast.stop = [&] { return ++asks > kForecastAsks; };
  (void)core::rollout(queue.state(), kNow_s, kPolicy, asked, forecast);
  const core::Plan plan = core::plan(queue.state(), kNow_s, kPolicy);
  core::PlanStamp stamp;
  (void)core::begin_starts(snapshot, {}, queue, plan, catalog(), stamp, options.now_steady_s,
                           options.now_wall_s);
  core::HandOverMemory memory;
  (void)core::hand_over(snapshot, {}, memory, stamp, kNow_s, kNow_s);
}

void ask_verbs(const ClusterSnapshot& snapshot, const Pod& pod) {
  NodesRequest request;
  request.pod = pod;
  PreemptRequest preempt{pod, {}};
  for (const NodeStatePtr& state : snapshot.nodes) {
    request.node_names.push_back(state->node->name.str());
    NodeVictims& offered = preempt.candidates.emplace_back();
    offered.node = state->node->name.str();
    for (const PodPtr& victim : state->pods)
      offered.victims.push_back(victim->uid);
  }
  core::FilterOptions filter;
  filter.catalog = &catalog();
  const FilterReply reply = core::filter_nodes(snapshot, request, filter);
  require(reply.verdicts.size() == request.node_names.size(), "every node is judged");
  core::MeasureOptions score;
  score.catalog = &catalog();
  score.predictor = predictor();
  const core::ScoreSheet sheet = core::score_nodes(snapshot, request, score);
  for (const int given : sheet.scores)
    require(given >= 0 && given <= 10, "scores are 0 to 10");
  core::PreemptOptions options;
  options.catalog = &catalog();
  options.now_wall_s = kNow_s;
  for (const NodeVictims& node : core::choose_victims(snapshot, preempt, options).nodes)
    require(!node.victims.empty(), "every node that is named has a victim");
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static wire::KubeDecoder decoder(default_gpu_catalog());
  const bool dump = size > 0 && data[0] == '{';
  const auto list =
      decoder.dump(dump ? std::string(text_of(data, size)) : RandomDump(data, size).json());
  require(dump || list.has_value(), "a made dump is one");
  if (!list) return 0;
  const ClusterSnapshot snapshot = cluster_of(*list);
  plan_and_forecast(snapshot);
  for (std::size_t i = 0; i < std::min(kAskers, snapshot.unbound.size()); ++i)
    ask_verbs(snapshot, *snapshot.unbound[i]);
  core::PlacementOptions shapes;
  shapes.catalog = &catalog();
  shapes.predictor = predictor();
  std::size_t shown = 0;
  for (const Task& task : core::TaskCatalog(snapshot).tasks())
    if (shown++ < kAskers) (void)core::placement_table(snapshot, task, shapes);
  return 0;
}
