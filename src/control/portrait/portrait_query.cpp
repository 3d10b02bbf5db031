#include "control/portrait/portrait_query.h"

#include <cmath>
#include <set>
#include <utility>

#include "cluster/watch/source.h"
#include "control/portrait/ended_runs.h"
#include "control/portrait/portraits.h"
#include "slackline/base/base64.h"
#include "slackline/base/clock.h"
#include "slackline/base/text.h"
#include "slackline/base/visible.h"
#include "slackline/core/cluster/resizing.h"
#include "slackline/core/portrait/advice.h"
#include "slackline/core/portrait/family.h"
#include "slackline/core/portrait/histogram.h"
#include "slackline/core/portrait/learn.h"
#include "slackline/core/portrait/packed.h"
#include "slackline/core/portrait/run_time.h"

namespace slackline::control {
namespace {

std::vector<PortraitUseView> use_of(const Portrait& portrait) {
  constexpr double kMedian = 0.5;
  constexpr double kMost = 0.95;
  std::vector<PortraitUseView> use;
  for (std::size_t i = 0; i < kUsageKindCount; ++i) {
    const auto kind = static_cast<UsageKind>(i);
    const core::HistogramScale scale = core::scale_of(kind);
    const auto median = core::percentile(portrait.histograms[i], scale, kMedian);
    const auto most = core::percentile(portrait.histograms[i], scale, kMost);
    if (median && most) use.push_back({kind, *median, *most});
  }
  return use;
}

std::vector<PortraitTimeView> times_of(const Portrait& portrait) {
  std::set<std::pair<GpuType, int>> seen;
  for (const PastRun& run : portrait.past)
    if (run.outcome == RunOutcome::kSucceeded) seen.emplace(run.gpu_type, run.gpus);
  std::vector<PortraitTimeView> times;
  for (const auto& [type, gpus] : seen)
    if (const auto time = core::run_time_of(portrait, type, gpus))
      times.push_back({type, gpus, std::round(time->median_s), std::round(time->low_s),
                       std::round(time->high_s), time->runs, time->earned});
  return times;
}

AdviceView with_evidence(AdviceView view, const core::Evidence& evidence) {
  view.runs = evidence.runs;
  view.from_s = evidence.from_s;
  view.to_s = evidence.to_s;
  view.coverage = evidence.coverage;
  view.confidence = to_string(evidence.confidence);
  return view;
}

AdviceView view_of(const core::GpuAdvice& gpus) {
  AdviceView view{.resource = "gpus",
                  .asked = static_cast<double>(gpus.asked.gpus()),
                  .advised = static_cast<double>(gpus.advised.gpus()),
                  .used = gpus.utilisation * gpus.asked.gpus()};
  view.run_s = gpus.asked_run_s;
  view.advised_run_s = gpus.advised_run_s;
  if (view.run_s) view.basis = gpus.modelled ? "model" : "past";
  view.gpu_hours_returned = gpus.gpu_hours_returned;
  view.deadline_kept = gpus.deadline_kept;
  view.text = format("asks for {}, {}", counted(gpus.asked.gpus(), "GPU"), core::explain(gpus));
  return with_evidence(std::move(view), gpus.evidence);
}

AdviceView view_of(std::string resource, core::AdvisedAmount what, const core::AmountAdvice& of) {
  constexpr double kMilli = 1000;
  const double unit = what == core::AdvisedAmount::kMemory ? 1 : kMilli;
  AdviceView view{.resource = std::move(resource),
                  .asked = static_cast<double>(of.asked) / unit,
                  .advised = static_cast<double>(of.advised) / unit,
                  .used = of.used / unit,
                  .raise = of.raise};
  view.text = core::explain(what, of);
  return with_evidence(std::move(view), of.evidence);
}

// In the shapes that a task has that names none.
std::vector<AdviceView> advice_of(const Portrait& portrait, double now_s) {
  if (portrait.recent.empty()) return {};
  core::AdviceQuestion question{.asked = portrait.asked,
                                .requests = portrait.requests,
                                .gpu_type = portrait.recent.back().gpu_type,
                                .shapes = {},
                                .time_left_s = std::nullopt,
                                .now_s = now_s};
  for (const Placement& shape : core::smaller_shapes(portrait.asked))
    question.shapes.push_back({shape, std::nullopt});
  return advice_views(core::advise(portrait, question), question.gpu_type);
}

const std::string& name_of(const PortraitIdentity& identity) {
  return identity.family.empty() ? identity.owner : identity.family;
}

bool is_meant(const PortraitIdentity& identity, const PortraitQuestion& question) {
  return (question.ns.empty() || identity.department == question.ns) &&
         (question.family.empty() || name_of(identity) == question.family);
}

}  // namespace

std::vector<AdviceView> advice_views(const core::Advice& advice, const GpuType& gpu_type) {
  using core::AdvisedAmount;
  std::vector<AdviceView> views;
  if (advice.gpus) views.push_back(view_of(*advice.gpus));
  if (advice.cpu_request)
    views.push_back(view_of("cpuRequest", AdvisedAmount::kCpuRequest, *advice.cpu_request));
  if (advice.cpu_limit)
    views.push_back(view_of("cpuLimit", AdvisedAmount::kCpuLimit, *advice.cpu_limit));
  if (advice.memory) views.push_back(view_of("memory", AdvisedAmount::kMemory, *advice.memory));
  for (AdviceView& view : views)
    view.gpu_type = gpu_type;
  return views;
}

PortraitView view_of(std::string_view key, const Portrait& portrait, double now_s) {
  PortraitView view;
  view.key = key;
  view.name = name_of(portrait.identity);
  view.portrait = portrait;
  if (!portrait.past.empty()) view.gpu_type = portrait.past.back().gpu_type;
  if (!portrait.recent.empty())
    view.evidence = static_cast<std::int64_t>(
        core::evidence_on(portrait, portrait.recent.back().gpu_type).size());
  view.score = core::score_of(portrait);
  view.level = core::level_of(&portrait);
  view.use = use_of(portrait);
  view.times = times_of(portrait);
  view.advice = advice_of(portrait, now_s);
  const double failed_s = portrait.resizing.rolled_back.at_s;
  if (failed_s > 0 && now_s < failed_s + core::kResizeFrozen_s)
    view.frozen_until_s = failed_s + core::kResizeFrozen_s;
  return view;
}

std::vector<PortraitView> PortraitQuery::list(const PortraitQuestion& question) const {
  const auto book = portraits_.known().get();
  std::vector<PortraitView> views;
  for (const auto& [key, portrait] : book->portraits) {
    if (!is_meant(portrait->identity, question)) continue;
    views.push_back(view_of(key, *portrait, system_clock().wall_s()));
    if (question.packed) views.back().packed = encode_base64(core::packed(*portrait));
  }
  return views;
}

Result<std::vector<PortraitView>> PortraitQuery::of_job(const PortraitQuestion& question) const {
  const SnapshotPtr snapshot = source_->snapshot();
  const Job* job = snapshot->find_job(question.ns, question.job);
  if (job == nullptr)
    return fail(ErrorCode::kNotFound,
                format("no Job {}/{} in the cluster", printable(question.ns, 64),
                       printable(question.job, 128)));
  const auto book = portraits_.known().get();
  std::vector<const Portrait*> known;
  for (const auto& [key, portrait] : book->portraits)
    known.push_back(portrait.get());
  const auto nearest = core::nearest_portrait(known, family_of(*job, *known_->get()));
  if (!nearest)
    return fail(ErrorCode::kNotFound,
                "neither its family nor a similar one has a portrait: it is a first run");
  PortraitView view = view_of(core::portrait_key(nearest->portrait->identity), *nearest->portrait,
                              system_clock().wall_s());
  view.match = to_string(nearest->match);
  if (nearest->match == core::PortraitMatch::kSimilar) view.distance = nearest->distance;
  return std::vector{std::move(view)};
}

Result<std::vector<PortraitView>> PortraitQuery::find(const PortraitQuestion& question) const {
  if (!question.job.empty()) return of_job(question);
  std::vector<PortraitView> views = list(question);
  if (!views.empty()) return views;
  return fail(ErrorCode::kNotFound,
              format("no portrait of a family {}{}; GET /v1/portraits lists those that are known: "
                     "a GPU Job gets one when it ends",
                     printable(question.family, 128),
                     question.ns.empty() ? "" : " in " + printable(question.ns, 64)));
}

Status PortraitQuery::take(const std::vector<std::string>& packed) {
  std::vector<Portrait> portraits;
  for (const std::string& text : packed) {
    const auto wrong = [&](const std::string& why) {
      return fail(ErrorCode::kInvalidArgument,
                  format("items[{}].packed: {}; send what GET /v1/portraits?packed=true answers",
                         portraits.size(), why));
    };
    const auto bytes = decode_base64(text);
    if (!bytes) return wrong(bytes.error().message);
    auto portrait = core::unpacked_portrait(*bytes);
    if (!portrait) return wrong(portrait.error().message);
    const PortraitIdentity& identity = portrait->identity;
    if (identity.department.empty()) return wrong("it names no namespace");
    if (has_unprintable(core::portrait_key(identity) + identity.framework))
      return wrong("its names contain control characters or invisible characters");
    portraits.push_back(*std::move(portrait));
  }
  return portraits_.put(std::move(portraits));
}

Result<std::size_t> PortraitQuery::forget(const PortraitQuestion& question) {
  SLACKLINE_ASSIGN(const std::vector<PortraitView> found, find(question));
  std::vector<std::string> keys;
  for (const PortraitView& view : found)
    keys.push_back(view.key);
  SLACKLINE_TRY(portraits_.forget(std::move(keys)));
  return found.size();
}

}  // namespace slackline::control
