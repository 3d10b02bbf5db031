#include "control/answers/answer_shapes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "slackline/base/duration.h"
#include "slackline/base/text.h"
#include "slackline/core/cluster/not_in_queue.h"
#include "slackline/core/cluster/task_catalog.h"
#include "slackline/model/reason.h"
#include "slackline/model/task.h"

namespace slackline::control {
namespace {

constexpr double kSoon_s = 5;  // a start within it is one of now

std::optional<double> within_reach(const std::optional<double>& time_s) {
  return time_s && std::isfinite(*time_s) ? time_s : std::nullopt;
}

// What an exit code tells.
std::string standing_of(const EtaView& eta, const QueueRow& row, double now_s) {
  if (row.blocked || row.cut_short || row.predicted_late() || row.slack_s.value_or(0) < 0)
    return "misses";
  const bool waits = row.state == TaskState::kWaiting;
  const bool unknown = (waits && !eta.start.p50_s) || (eta.deadline_s && !eta.finish.p50_s);
  if (unknown) return waits && !row.reason.empty() && row.forecast.empty() ? "waits" : "unknown";
  if (!waits) return "starts";
  const bool led = row.reason != reason::kNotLed;
  return led && *eta.start.p50_s <= now_s + kSoon_s ? "starts" : "waits";
}

// Names of those that are seen; returns how many are not.
std::int64_t name_seen(const std::vector<ObjectKey>& tasks, Viewer& viewer,
                       std::vector<std::string>& named) {
  std::int64_t hidden = 0;
  for (const ObjectKey& task : tasks)
    if (viewer.sees(task.ns))
      named.push_back(task.str());
    else
      ++hidden;
  return hidden;
}

// Empty: it is planned, or nobody knows. Who only looks may read all namespaces as managed ones.
std::string in_unmanaged_namespace(const PostedTask& posted, const ClusterSnapshot& snapshot,
                                   std::optional<core::StockScope> stock_waits) {
  if (stock_waits == core::StockScope::kAll) return {};
  return core::why_not_managed(snapshot, posted.job ? posted.job->key.ns : posted.pod->key.ns);
}

std::string group_text(std::string_view code) {
  struct Text {
    std::string_view code;
    std::string_view text;
  };
  static constexpr std::array<Text, 19> kTexts = {{
      {"GpuTypeNotAccepted", "other GPU type"},
      {"GpuTypeUnknown", "GPU type unknown"},
      {"NoGpus", "no such GPUs"},
      {"GpusUnhealthy", "with too few healthy GPUs"},
      {"NodeUnreadable", "resources cannot be read"},
      {"NotReady", "not ready"},
      {"Unschedulable", "cordoned"},
      {"Taint", "tainted"},
      {"NodeSelector", "not in its nodeSelector"},
      {"NodeAffinity", "not in its node affinity"},
      {"VolumeNodeAffinity", "out of reach of its volumes"},
      {"NodeTooSmall", "too few GPUs, or too little else, in all"},
      {"RefusedByScheduler", "refused by kube-scheduler"},
      {"PodAffinity", "not where its pods are planned together"},
      {"PodSpread", "not among those over which its pods are planned apart"},
      {"SharedGpus", "of shared GPUs, of which a pod gets one share"},
      {"HeldForOthers", "held for others"},
      {"Full", "too full"},
      {"NoCpuOrMemory", "too little CPU, memory or another resource free"},
  }};
  for (const Text& text : kTexts)
    if (text.code == code) return std::string(text.text);
  return "free for it";
}

}  // namespace

SpanView span_of(std::optional<double> p50_s, std::optional<double> p90_s) {
  return {within_reach(p50_s), within_reach(p90_s)};
}

SpanView span_of(const core::Quantiles& times) {
  return span_of(times.p50(), times.p90());
}

std::optional<ExplainView> left_to_others(const ClusterSnapshot& snapshot, const ObjectKey& key,
                                          double now_s) {
  const Job* job = snapshot.find_job(key.ns, key.name);
  if (job == nullptr || !job->kueue || !job->suspended || job->finished || job->deleting ||
      !job->pod_requests.wants_gpus())
    return std::nullopt;
  ExplainView view;
  view.eta.task = key.str();
  view.eta.kind = to_string(TaskKind::kJob);
  view.eta.state = to_string(TaskState::kWaiting);
  view.eta.reason = reason::kNotManaged;
  view.eta.forecast_s = now_s;
  view.eta.standing = "waits";
  if (job->intent) view.problems = job->intent->problems;
  view.blockers.push_back({.reason = view.eta.reason,
                           .what = std::string(find_reason(reason::kNotManaged)->meaning),
                           .need = {},
                           .have = {},
                           .ends = {},
                           .detail = "the Job " + core::why_left_to_others(*job)});
  return view;
}

bool is_left_alone(const PostedTask& posted, const ClusterSnapshot& snapshot,
                   std::optional<core::StockScope> stock_waits, QuoteView& view) {
  const std::string others =
      posted.job ? core::why_left_to_others(*posted.job) : core::why_left_to_others(*posted.pod);
  const std::string unmanaged = in_unmanaged_namespace(posted, snapshot, stock_waits);
  view.is_reviewed = unmanaged.empty();
  for (const std::string& why : {others.empty() ? others : "it " + others, unmanaged})
    if (!why.empty())
      view.problems.push_back("Slackline would leave it to others, and knows no start: " + why);
  const std::string& scheduler =
      posted.job ? posted.job->scheduler_name : posted.pod->scheduler_name;
  return !others.empty() || !unmanaged.empty() || !snapshot.plans_for(scheduler);
}

void leave_to_others(QuoteView& view) {
  view.reason = reason::kNotManaged;
  view.before.reset();
  for (QuoteRowView& row : view.rows) {
    row.start = row.finish = {};
    row.chance = row.latest_s = std::nullopt;
    row.delayed = row.stopped = {};
    row.delays.clear();
    row.best = false;
    if (row.why_not.empty()) row.why_not = reason::kNotManaged;
  }
}

EtaView eta_of(const QueueRow& row, double now_s) {
  EtaView eta;
  eta.task = row.key.str();
  eta.kind = to_string(row.kind);
  eta.state = to_string(row.state);
  eta.reason = row.reason;
  eta.deadline_s = row.deadline_s;
  eta.start = {row.start_s, row.start_p90_s};
  eta.finish = {row.finish_s, row.finish_p90_s};
  eta.forecast = row.forecast;
  eta.length_source = row.length_source;
  eta.blocked = row.blocked;
  eta.cut_short = row.cut_short;
  eta.chance = row.chance;
  eta.standing = standing_of(eta, row, now_s);
  return eta;
}

BlockerView view_of(const core::Blocker& blocker, Viewer& viewer) {
  BlockerView view{.reason = std::string(blocker.reason),
                   .what = blocker.what,
                   .need = blocker.need,
                   .have = blocker.have,
                   .ends = span_of(blocker.p50_s, blocker.p90_s),
                   .detail = blocker.detail};
  view.on_hidden = name_seen(blocker.on, viewer, view.on);
  for (const core::Relief& relief : blocker.relief) {
    const bool named = !relief.task.name.empty() && viewer.sees(relief.task.ns);
    view.relief.push_back({named ? relief.task.str() : std::string(), relief.gpus,
                           span_of(relief.p50_s, relief.p90_s)});
  }
  return view;
}

NodeGroupView view_of(const core::NodeGroup& group, Viewer& viewer) {
  NodeGroupView view{.code = std::string(group.code),
                     .what = group_text(group.code),
                     .nodes = group.nodes,
                     .until_s = within_reach(group.until_s),
                     .detail = group.detail};
  view.tasks_hidden = name_seen(group.tasks, viewer, view.tasks);
  return view;
}

ChangeView view_of(const core::Change& change, Viewer& viewer) {
  ChangeView view{.kind = std::string(core::to_string(change.kind)),
                  .what = change.what,
                  .task = {},
                  .start = span_of(change.outlook.start_s),
                  .finish = span_of(change.outlook.finish_s),
                  .chance = change.outlook.chance};
  if (!change.by) return view;
  if (viewer.sees(change.by->ns))
    view.task = change.by->str();
  else
    view.what = "stop a task of another namespace";
  return view;
}

std::string type_text(const GpuType& type) {
  return type.empty() ? "unknown" : type.str();
}

std::string one_by_one_text(const Job& job, double later_s) {
  const std::int64_t at_a_time = std::max<std::int64_t>(1, job.parallelism);
  const std::int64_t pods = std::max(core::written_pods(job), job.completions.value_or(0));
  if (pods <= at_a_time)
    return format("its {} pods start one by one: this is for one of them", pods);
  return format(
      "its {} pods start one by one, {} at a time: this is for one of them, and the whole "
      "takes at least {} times as long{}",
      pods, at_a_time, core::waves_left(job),
      later_s > 0
          ? format("; its deadline is {} earlier, for those after it", format_duration(later_s))
          : "");
}

}  // namespace slackline::control
