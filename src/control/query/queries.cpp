#include "control/query/queries.h"

#include <algorithm>
#include <map>
#include <utility>

#include "cluster/watch/source.h"
#include "control/query/deadlines.h"
#include "control/query/node_views.h"
#include "control/state/present_situation.h"
#include "control/state/settings.h"
#include "slackline/base/text.h"
#include "slackline/core/cluster/annotation_hints.h"
#include "slackline/core/cluster/placement_table.h"
#include "slackline/core/cluster/pod_admission.h"
#include "slackline/core/cluster/task_catalog.h"
#include "slackline/core/planning/shapes.h"
#include "slackline/core/planning/task_menu.h"
#include "slackline/core/portrait/book.h"
#include "slackline/core/verbs/filter.h"
#include "slackline/core/verbs/score.h"
#include "slackline/model/contract.h"
#include "slackline/model/object_key.h"
#include "store/journal.h"

namespace slackline::control {
namespace {

std::optional<double> task_deadline(const Task& task, const GpuCatalog& catalog,
                                    const core::Predictor& predictor,
                                    const ClusterSnapshot& snapshot) {
  return deadline_of({task.intent, task.gpu_resource, task.created_s}, catalog, predictor,
                     snapshot);
}

bool has_row_by(const core::PlacementTable& table, core::LengthSource source) {
  return std::any_of(table.rows.begin(), table.rows.end(), [&](const core::PlacementRow& row) {
    return row.model_source == core::to_string(source);
  });
}

// Where the figures of a table come from, and which types it cannot show.
std::string placements_note(const Task& task, const core::PlacementTable& table) {
  std::string note;
  if (const auto workload = task.intent.workload())
    note = format(
        "predicted by what is known about {}; 9 of 10 runs are expected between LOW and HIGH",
        *workload);
  else if (task.intent.expected_duration_s)
    note = has_row_by(table, core::LengthSource::kStatedForAll)
               ? format(
                     "expected-duration is for the shape as submitted, as if its GPU types were "
                     "equal: {} names the one that it holds for",
                     contract::kExpectedDurationOn)
               : "expected-duration is for the shape as submitted";
  else if (has_row_by(table, core::LengthSource::kHistory))
    note = "by what the family's own runs took, in the shape as submitted";
  else if (has_row_by(table, core::LengthSource::kSimilar))
    note =
        "a guess, by what the most similar runs of its namespace took, in the shape as submitted";
  else if (has_row_by(table, core::LengthSource::kAtMost))
    note = "at most: nothing is known of its run time but when Kubernetes ends it";
  else
    note = "the task names no model: no prediction";
  if (table.resizing && table.resizing->changes())
    note += "; resized by what its family used: GPUs, CPU and memory as `slackline queue` says";
  std::vector<std::string> absent;
  for (const GpuType& type : table.absent)
    absent.push_back(type.str());
  if (!absent.empty()) note += format("; no usable node has: {}", printable(join(absent, ", ")));
  return note;
}

}  // namespace

Queries::Queries(const DecisionOptions& options, const Published<Known>& known,
                 const cluster::ClusterSource& source, const store::Journal* journal,
                 const Clock& clock, std::string version)
    : options_(options),
      known_(known),
      source_(source),
      journal_(journal),
      clock_(clock),
      version_(std::move(version)) {}

Status Queries::readable() const {
  return cluster_is_read(*source_.snapshot());
}

ClusterView Queries::cluster() const {
  const SnapshotPtr snapshot = source_.snapshot();
  const CacheHealth health = source_.health();
  ClusterView view;
  view.mode = to_string(options_.mode);
  view.version = version_;
  view.snapshot_version = snapshot->version;
  view.cache = {health.synced, health.stale, health.age_s, health.detail};
  if (view.cache.detail.empty() && snapshot->taken_on_trust)
    view.cache.detail = "a dump: its plans and rights are accepted without checks";
  view.nodes = static_cast<std::int64_t>(snapshot->nodes.size());
  for (const NodeStatePtr& state : snapshot->nodes)
    view.pods_bound += static_cast<std::int64_t>(state->pods.size());
  view.pods_unbound = static_cast<std::int64_t>(snapshot->unbound.size());
  view.jobs = static_cast<std::int64_t>(snapshot->jobs.size());
  view.models = static_cast<std::int64_t>(known_.get()->models.size());
  std::map<std::string, std::int64_t> states;
  for (const Task& task : core::TaskCatalog(*snapshot).tasks())
    ++states[std::string(to_string(task.state))];
  view.tasks.assign(states.begin(), states.end());
  view.pools = pool_views(*snapshot, options_.catalog, clock_.steady_s());
  return view;
}

std::uint64_t Queries::snapshot_version() const {
  return source_.snapshot()->version;
}

std::vector<GpuPoolView> Queries::pools() const {
  return pool_views(*source_.snapshot(), options_.catalog, clock_.steady_s());
}

std::vector<ListedNode> Queries::nodes() const {
  const SnapshotPtr snapshot = source_.snapshot();
  const double now_s = clock_.steady_s();
  std::vector<ListedNode> rows;
  rows.reserve(snapshot->nodes.size());
  const NodeLister maker(*snapshot, options_.catalog, options_.scheduler_names, now_s);
  for (NodeIndex index = 0; index < snapshot->nodes.size(); ++index)
    rows.push_back(maker.row(index));
  return rows;
}

std::vector<ListedTask> Queries::tasks(const std::string& ns) const {
  const SnapshotPtr snapshot = source_.snapshot();
  const KnownPtr known = known_.get();
  std::vector<ListedTask> rows;
  for (Task& task : core::TaskCatalog(*snapshot).tasks()) {
    if (!ns.empty() && task.key.ns != ns) continue;
    const auto deadline_s = task_deadline(task, options_.catalog, *known->predictor, *snapshot);
    rows.push_back(listed_task(*snapshot, std::move(task), deadline_s));
  }
  return rows;
}

Result<ListedTask> Queries::task(const ObjectKey& key) const {
  const SnapshotPtr snapshot = source_.snapshot();
  std::optional<Task> task = core::TaskCatalog(*snapshot).find(key);
  if (!task) return fail(ErrorCode::kNotFound, format("no GPU task {} in the cluster", key.str()));
  const KnownPtr known = known_.get();
  const auto deadline_s = task_deadline(*task, options_.catalog, *known->predictor, *snapshot);
  auto hints = core::annotation_hints(*snapshot, *task, options_.catalog, *known->predictor);
  ListedTask row = listed_task(*snapshot, *std::move(task), deadline_s);
  row.hints = std::move(hints);
  return row;
}

Result<ScoresView> Queries::scores(const ObjectKey& key) const {
  const SnapshotPtr snapshot = source_.snapshot();
  const PodPtr pod = snapshot->find_pod(key);
  if (!pod) return fail(ErrorCode::kNotFound, format("no pod {} in the cluster", key.str()));
  return judge(*snapshot, *pod, /*stock=*/false);
}

Result<ScoresView> Queries::scores(const Pod& pod) const {
  auto created_now = std::make_shared<Pod>(pod);
  if (created_now->created_s <= 0) created_now->created_s = clock_.wall_s();
  const SnapshotPtr snapshot = source_.snapshot();
  PodPtr admitted = std::move(created_now);
  if (snapshot->admission) admitted = core::with_admission(admitted, *snapshot->admission);
  if (admitted->constraints && !admitted->constraints->refused.empty())
    return fail(ErrorCode::kInvalidArgument,
                "the API server refuses such pods: " + admitted->constraints->refused);
  return judge(*snapshot, *admitted, /*stock=*/true);
}

Result<PlacementsView> Queries::placements(const ObjectKey& key) const {
  const SnapshotPtr snapshot = source_.snapshot();
  const std::optional<Task> task = core::TaskCatalog(*snapshot).find(key);
  if (!task) return fail(ErrorCode::kNotFound, format("no GPU task {} in the cluster", key.str()));
  core::PlacementOptions asked{
      situation_of(options_.catalog, options_.theta(), *known_.get(), source_, clock_)};
  if (options_.portraits != nullptr) asked.portraits = options_.portraits->get();
  const SettingsPtr settings = options_.settings != nullptr ? options_.settings->get() : nullptr;
  if (settings) asked.queues = &settings->queues;
  const core::PlacementTable table = core::placement_table(*snapshot, *task, asked);

  PlacementsView view;
  view.task = key;
  view.model = task->intent.model.value_or("");
  view.deadline_s = table.deadline_s;
  for (const core::PlacementRow& row : table.rows) {
    PlacementRow out;
    out.gpu_type = row.gpu_type;
    out.shape = row.shape;
    if (row.prediction) {
      out.throughput_samples_per_s = row.prediction->throughput_samples_per_s;
      out.throughput_low = row.prediction->low;
      out.throughput_high = row.prediction->high;
      out.extrapolated = row.prediction->extrapolated;
      out.source = row.model_source;
    }
    out.latency_s = row.lat_s;
    out.cost = row.cost;
    out.cer = row.cer;
    out.feasible = row.feasible;
    out.allowed = row.allowed;
    out.fits_now = row.fits_now;
    out.written = row.written;
    if (!row.cer) out.reason = row.model_source;
    if (!row.allowed) out.reason = row.accepted ? "not asked for" : "not in gpu-types";
    view.rows.push_back(std::move(out));
  }
  view.note = placements_note(*task, table);
  return view;
}

Result<ModelView> Queries::model(const std::string& name) const {
  const KnownPtr known = known_.get();
  if (const ModelView* view = known->find(name)) return *view;
  return fail(ErrorCode::kNotFound,
              format("nothing is known about a model {}; GET /v1/models lists the known models, "
                     "POST /v1/models/{}/samples adds measurements",
                     printable(name, 64), printable(name, 64)));
}

void hide_from(Viewer viewer, JournalPage& page) {
  constexpr std::string_view kFor = " for ";
  for (DecisionRow& row : page.rows) {
    if (row.stop && !row.stop->asker.ns.empty() && !viewer.sees(row.stop->asker.ns))
      row.stop->asker = {};
    // A calibration run ends without a price: only the words name who wanted its GPUs.
    const std::size_t named = row.result.find(kFor);
    if (named == std::string::npos) continue;
    const std::size_t begin = named + kFor.size();
    const std::size_t end = std::min(row.result.find_first_of(" ,:", begin), row.result.size());
    const auto asker = parse_object_key(row.result.substr(begin, end - begin));
    if (!asker || viewer.sees(asker->ns)) continue;
    row.result.replace(begin, end - begin, "a task of another namespace");
  }
}

Result<JournalPage> Queries::decisions(const JournalQuery& query) const {
  if (journal_ == nullptr)
    return fail(ErrorCode::kUnavailable, "the decision journal is not open; see the daemon's log");
  return journal_->query(query);
}

Result<HistoryPage> Queries::history(const HistoryQuery& query) const {
  if (journal_ == nullptr)
    return fail(ErrorCode::kUnavailable, "the history is not open; see the daemon's log");
  return journal_->history(query);
}

bool Queries::has_ended(const ObjectKey& task) const {
  const auto page = history({.ns = task.ns, .limit = 1, .name = task.name});
  return page && !page->rows.empty();
}

}  // namespace slackline::control
