#include "control/serve/extender.h"

#include <algorithm>
#include <array>
#include <utility>

#include "cluster/watch/source.h"
#include "control/journal/decision_log.h"
#include "control/serve/binder.h"
#include "control/serve/share_account.h"
#include "control/state/planner_view.h"
#include "control/state/present_situation.h"
#include "control/state/settings.h"
#include "slackline/base/text.h"
#include "slackline/core/cluster/holds.h"
#include "slackline/core/cluster/pools.h"
#include "slackline/core/planning/menu.h"
#include "slackline/core/verbs/filter.h"
#include "slackline/core/verbs/score.h"
#include "slackline/core/verbs/victims.h"

namespace slackline::control {
namespace {

// The answer of filter where it must not interfere: every node passes.
FilterReply pass_all(std::size_t nodes) {
  return FilterReply{std::vector<Verdict>(nodes, Verdict::kPass), {}};
}

using VerdictCounts = std::array<std::uint32_t, kVerdictCount>;

std::uint32_t& of(VerdictCounts& counts, Verdict verdict) {
  return counts[static_cast<std::size_t>(verdict)];
}

VerdictCounts count_verdicts(const FilterReply& reply) {
  VerdictCounts counts{};
  std::uint32_t failing = 0;  // mostly few
  for (const Verdict verdict : reply.verdicts)
    if (!passes(verdict)) {
      ++of(counts, verdict);
      ++failing;
    }
  of(counts, Verdict::kPass) = static_cast<std::uint32_t>(reply.verdicts.size()) - failing;
  return counts;
}

std::vector<std::pair<std::string, std::uint32_t>> reasons(const VerdictCounts& counts) {
  std::vector<std::pair<std::string, std::uint32_t>> reasons;
  for (std::size_t i = 0; i < kVerdictCount; ++i)
    if (counts[i] > 0) reasons.emplace_back(std::string(code(static_cast<Verdict>(i))), counts[i]);
  return reasons;
}

// The best nodes of an answer with their features.
std::vector<DecisionCandidate> top_candidates(const NodesRequest& request,
                                              const core::ScoreSheet& sheet,
                                              const PrioritizeReply& reply) {
  const std::size_t count = std::min(reply.scores.size(), kMaxDecisionCandidates);
  std::vector<DecisionCandidate> candidates(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t place = reply.scores[i].node;
    candidates[i].node = request.node_names[place];
    candidates[i].score = reply.scores[i].score;
    candidates[i].features =
        core::named_features(core::feature_row(sheet.measured, sheet.measured.nodes[place]));
  }
  return candidates;
}

}  // namespace

core::Situation DecisionOptions::situation(const Known& known, const cluster::ClusterSource& source,
                                           const Clock& clock) const {
  core::Situation now = situation_of(catalog, theta(), known, source, clock);
  if (planner != nullptr) now.slow_nodes = planner->get()->slow_nodes;
  if (portraits != nullptr) now.portraits = portraits->get();
  return now;
}

double DecisionOptions::theta() const {
  return settings == nullptr ? core::kDefaultTheta : settings->get()->theta;
}

std::string DecisionOptions::fingerprint() const {
  std::string text(to_string(mode));
  for (const GpuTypeRule& type : catalog.types)
    text += format(" {}={}", type.alias.str(), type.cost);
  return format("{:016x}", slackline::fingerprint(text));
}

Extender::Extender(const DecisionOptions& options, const Published<Known>& known,
                   cluster::ClusterSource& source, cluster::ClusterWriter* writer, DecisionLog& log,
                   const Clock& clock)
    : options_(options),
      options_hash_(options.fingerprint()),
      known_(known),
      source_(source),
      log_(log),
      clock_(clock),
      shares_(std::make_unique<ShareAccount>(options.catalog, source, options.share_term, clock)),
      binder_(std::make_unique<Binder>(
          BinderOptions{options.mode, options.scheduler_names, options.settings}, source, writer,
          *shares_, clock)) {}

Extender::~Extender() = default;

DecisionRow Extender::row_for(Verb verb, const ClusterSnapshot& snapshot, const Known& known,
                              const Pod& pod, std::size_t nodes_asked) const {
  DecisionRow row;
  row.time_s = clock_.wall_s();
  row.verb = verb;
  row.pod_uid = pod.uid;
  row.pod = pod.key;
  if (const PlanNote* plan = effective_plan(snapshot, pod)) row.plan_id = plan->id;
  row.policy = core::rankers().front()->name();
  if (options_.mode == Mode::kShadow) row.policy += "-shadow";
  row.options_hash = format("{}-{}-{}", options_hash_, options_.theta(), known.fingerprint);
  row.snapshot_version = snapshot.version;
  row.nodes_asked = static_cast<std::uint32_t>(nodes_asked);
  return row;
}

// Pools change with nodes only, and a snapshot answers many requests.
std::shared_ptr<const std::vector<core::Pool>> Extender::pools_of(const ClusterSnapshot& snapshot) {
  {
    MutexLock lock(pools_mutex_);
    if (pools_ && pools_version_ == snapshot.version) return pools_;
  }
  auto pools = std::make_shared<const std::vector<core::Pool>>(
      core::derive_pools(snapshot, options_.catalog));
  MutexLock lock(pools_mutex_);
  pools_ = pools;
  pools_version_ = snapshot.version;
  return pools;
}

std::shared_ptr<const NodeNames> Extender::node_names() const {
  return source_.snapshot()->node_names;
}

core::Situation Extender::situation(const Known& known) const {
  return options_.situation(known, source_, clock_);
}

StopAsked Extender::late_after(double received_s) const {
  return
      [this, until_s = received_s + options_.verb_time_s] { return clock_.steady_s() > until_s; };
}

FilterReply Extender::filter(const NodesRequest& request, std::optional<double> received_s) {
  const double started_s = clock_.steady_s();
  SnapshotPtr snapshot = source_.snapshot();
  const KnownPtr known = known_.get();
  core::FilterOptions options{situation(*known)};
  options.stop = late_after(received_s.value_or(started_s));
  ShareAccount::View view;
  FilterReply reply;
  if (shares_->concerns(request.pod)) {
    reply.error = shares_->refusal();
    view = shares_->view(request.pod.uid);
    snapshot = view.snapshot;
    options.taken = view.taken;
  }
  if (reply.error.empty())
    reply = core::filter_nodes(*snapshot, request, options);
  else
    reply.verdicts.assign(request.node_names.size(), Verdict::kPass);

  DecisionRow row =
      row_for(Verb::kFilter, *snapshot, *known, request.pod, request.node_names.size());
  VerdictCounts counts = count_verdicts(reply);
  row.reasons = reasons(counts);
  row.result = reply.error.empty()
                   ? format("passed {} of {}", of(counts, Verdict::kPass), reply.verdicts.size())
                   : reply.error;
  if (reply.gave_up) row.result = log_.count_late(Verb::kFilter);
  row.duration_us = (clock_.steady_s() - started_s) * 1e6;
  log_.record(std::move(row));
  if (options_.mode == Mode::kShadow) return pass_all(request.node_names.size());
  return reply;
}

PrioritizeReply Extender::prioritize(const NodesRequest& request,
                                     std::optional<double> received_s) {
  const double started_s = clock_.steady_s();
  const SnapshotPtr snapshot = source_.snapshot();
  const KnownPtr known = known_.get();
  core::MeasureOptions options{situation(*known)};
  const auto pools = pools_of(*snapshot);
  options.pools = pools.get();
  options.stop = late_after(received_s.value_or(started_s));
  const core::ScoreSheet sheet = core::score_nodes(*snapshot, request, options);
  PrioritizeReply reply = core::to_reply(sheet);

  DecisionRow row =
      row_for(Verb::kPrioritize, *snapshot, *known, request.pod, request.node_names.size());
  row.candidates = top_candidates(request, sheet, reply);
  row.result = reply.scores.empty()
                   ? std::string("no node scored")
                   : format("best {} with {}", request.node_names[reply.scores.front().node],
                            reply.scores.front().score);
  if (sheet.measured.gave_up) row.result = log_.count_late(Verb::kPrioritize);
  row.duration_us = (clock_.steady_s() - started_s) * 1e6;
  log_.record(std::move(row));
  if (options_.mode == Mode::kShadow) return {};
  return reply;
}

PreemptReply Extender::preempt(const PreemptRequest& request, std::optional<double> received_s) {
  const double started_s = clock_.steady_s();
  const SnapshotPtr snapshot = source_.snapshot();
  const KnownPtr known = known_.get();
  core::PreemptOptions options{situation(*known)};
  options.stop = late_after(received_s.value_or(started_s));
  PreemptReply reply = core::choose_victims(*snapshot, request, options);

  std::size_t victims = 0;
  for (const NodeVictims& node : reply.nodes)
    victims += node.victims.size();
  DecisionRow row =
      row_for(Verb::kPreempt, *snapshot, *known, request.pod, request.candidates.size());
  row.result = format("{} of {} nodes, {} victims named", reply.nodes.size(),
                      request.candidates.size(), victims);
  if (reply.gave_up) row.result = log_.count_late(Verb::kPreempt);
  row.duration_us = (clock_.steady_s() - started_s) * 1e6;
  log_.record(std::move(row));
  if (options_.mode == Mode::kShadow) return PreemptReply{request.candidates};
  log_.count_victims(victims);
  return reply;
}

BindReply Extender::bind(const BindRequest& request, std::optional<double> received_s) {
  const double started_s = clock_.steady_s();
  const SnapshotPtr snapshot = source_.snapshot();
  const BindOutcome outcome =
      binder_->bind(request, received_s.value_or(started_s) + options_.verb_time_s);
  const BindReply& reply = outcome.reply;
  log_.count_bind(outcome.counted);
  if (outcome.late) log_.count_late(Verb::kBind);

  Pod pod;
  pod.uid = request.uid;
  pod.key = request.pod;
  DecisionRow row = row_for(Verb::kBind, *snapshot, *known_.get(), pod, 1);
  row.result = reply.error.empty() ? format("bound to {}", request.node.str()) : reply.error;
  // The watch may have reported the outcome before this row is in the journal.
  if (reply.error.empty()) row.outcome = DecisionOutcome{request.node.str(), clock_.wall_s()};
  row.duration_us = (clock_.steady_s() - started_s) * 1e6;
  log_.record(std::move(row));
  return reply;
}

}  // namespace slackline::control
