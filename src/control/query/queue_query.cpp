#include "control/query/queue_query.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <unordered_set>

#include "control/plan/planner_loop.h"
#include "slackline/core/predictor.h"
#include "slackline/core/rollout.h"

namespace slackline::control {
namespace {

constexpr double kResolution = 0.01;

std::optional<double> within_horizon(double time_s) {
  return std::isfinite(time_s) ? std::optional(time_s) : std::nullopt;
}

class RowMaker {
 public:
  RowMaker(const ClusterSnapshot& snapshot, const core::Queue& queue, double now_s,
           const core::Policy& policy)
      : queue_(queue), now_s_(now_s), policy_(policy) {
    for (const PodPtr& pod : snapshot.unbound)
      if (pod->owner) owners_of_unbound_.insert(pod->owner->uid);
  }

  std::vector<QueueRow> make() {
    for (core::TaskIndex task = 0; task < queue_.size(); ++task)
      rows_.push_back(row(task));
    forecast();
    std::sort(rows_.begin(), rows_.end(),
              [](const QueueRow& a, const QueueRow& b) { return key_of(a) < key_of(b); });
    int position = 0;
    for (QueueRow& row : rows_)
      if (row.state == "waiting") row.position = ++position;
    return std::move(rows_);
  }

 private:
  static std::tuple<bool, double, double, double, ObjectKey> key_of(const QueueRow& row) {
    constexpr double kNever = std::numeric_limits<double>::infinity();
    const bool waits = row.state == "waiting";
    if (!waits) return {waits, 0, 0, 0, row.key};
    return {waits, row.start_s.value_or(kNever), row.deadline_s.value_or(kNever), row.created_s,
            row.key};
  }

  QueueRow row(core::TaskIndex index) const {
    const core::QueueTask& task = queue_.task(index);
    const core::PlacementMenu& menu = *queue_.state().tasks()[index].menu;
    QueueRow row;
    row.key = task.key;
    row.kind = task.kind;
    row.queue = queue_of(task.intent, task.key.ns);
    row.qos_class = to_string(task.intent.qos_class.value_or(QosClass::kNormal));
    row.created_s = task.created_s;
    row.deadline_s = task.deadline_s;
    if (task.deadline_s && !menu.empty())
      row.slack_s = *task.deadline_s - now_s_ - menu.fastest().lat_s;
    row.state = "waiting";
    row.reason = menu.empty() ? "NoNodeFits" : task.blocked;
    if (task.plan) {
      row.state = runs(task) ? "running" : "starting";
      row.shape = task.plan->shape;
      row.gpu_type = task.plan->gpu_type;
      row.plan_id = task.plan->id;
    }
    return row;
  }

  bool runs(const core::QueueTask& task) const {
    if (!task.job) return task.member.bound();
    return task.job->active > 0 && !owners_of_unbound_.contains(task.job->uid);
  }

  void forecast() {
    const core::PlanState& state = queue_.state();
    if (state.waiting().size() > kMostForecast) return;
    std::vector<core::TaskIndex> asked(state.waiting().begin(), state.waiting().end());
    asked.insert(asked.end(), state.running().begin(), state.running().end());
    core::RolloutOptions options;
    options.resolution = kResolution;
    for (const core::Forecast& told : core::rollout(state, now_s_, policy_, asked, options)) {
      rows_[told.task].start_s = within_horizon(told.start_s.p50());
      rows_[told.task].finish_s = within_horizon(told.finish_s.p50());
    }
  }

  const core::Queue& queue_;
  const double now_s_;
  const core::Policy& policy_;
  std::unordered_set<Uid> owners_of_unbound_;
  std::vector<QueueRow> rows_;  // by task until they are sorted
};

}  // namespace

struct QueueQuery::Impl {
  const PlannerOptions options;
  const KnownBoard& board;
  const cluster::ClusterSource& source;
  const Clock& clock;
  Mutex mutex;
  core::TaskMenus menus SLACKLINE_GUARDED_BY(mutex);
};

QueueQuery::QueueQuery(const PlannerOptions& options, const KnownBoard& board,
                       const cluster::ClusterSource& source, const Clock& clock)
    : impl_(new Impl{options, board, source, clock, {}, {}}) {}

QueueQuery::~QueueQuery() = default;

std::vector<QueueRow> QueueQuery::rows(const std::string& ns) {
  Impl& my = *impl_;
  const SnapshotPtr snapshot = my.source.snapshot();
  core::QueueOptions asked;
  asked.catalog = &my.options.catalog;
  asked.predictor = my.board.known()->predictor;
  asked.theta = my.options.theta;
  asked.now_wall_s = my.clock.wall_s();
  asked.now_steady_s = my.clock.steady_s();
  MutexLock lock(my.mutex);
  const core::Queue queue = core::make_queue(*snapshot, asked, my.menus);
  std::vector<QueueRow> rows =
      RowMaker(*snapshot, queue, asked.now_wall_s, my.options.policy).make();
  if (!ns.empty()) std::erase_if(rows, [&](const QueueRow& row) { return row.key.ns != ns; });
  return rows;
}

}  // namespace slackline::control
