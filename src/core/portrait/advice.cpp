#include "slackline/core/portrait/advice.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "slackline/base/duration.h"
#include "slackline/core/portrait/learn.h"
#include "slackline/core/throughput/throughput.h"

namespace slackline::core {
namespace {

constexpr double kTiny = 1e-12;  // rounding of products, as a share: not a reason to round up

using Runs = std::vector<const PortraitRun*>;
using UsageField = std::optional<Usage> UsageSample::*;

// The runs in which enough of this was measured.
Runs measured(const Runs& runs, UsageField field) {
  Runs some;
  std::copy_if(runs.begin(), runs.end(), std::back_inserter(some), [field](const PortraitRun* run) {
    return coverage(*run, run->usage.*field) >= kLeastCoverage;
  });
  return some;
}

// GPUs that others used too say nothing of the task.
Runs with_gpus_measured(const Runs& runs) {
  Runs some = measured(measured(runs, &UsageSample::gpu_share), &UsageSample::gpu_memory_share);
  std::erase_if(some,
                [](const PortraitRun* run) { return run->usage.gpus != UsageQuality::kMeasured; });
  return some;
}

Evidence evidence_of(const Runs& runs, UsageField field, const Portrait& portrait,
                     PortraitMatch match) {
  constexpr int kForMedium = 2;
  constexpr double kWellCovered = 0.9;
  Evidence evidence;
  if (runs.empty()) return evidence;
  evidence.runs = static_cast<int>(runs.size());
  evidence.from_s = runs.front()->usage.from_s;
  evidence.to_s = runs.front()->finished_s;
  evidence.coverage = 1;
  bool one_image = true;
  for (const PortraitRun* run : runs) {
    evidence.from_s = std::min(evidence.from_s, run->usage.from_s);
    evidence.to_s = std::max(evidence.to_s, run->finished_s);
    evidence.coverage = std::min(evidence.coverage, coverage(*run, run->usage.*field));
    one_image = one_image && run->image_digest == portrait.image_digest;
  }
  if (match != PortraitMatch::kExact || !one_image || evidence.runs < kForMedium) return evidence;
  const bool much = runs.size() >= kEvidenceRuns && evidence.coverage >= kWellCovered;
  evidence.confidence = much ? Confidence::kHigh : Confidence::kMedium;
  return evidence;
}

// What a share of the GPUs that it had is of the GPUs that the run had asked for.
double of_asked(const PortraitRun& run, double share) {
  return std::clamp(share, 0.0, 1.0) * run.shape.gpus() / run.asked.gpus();
}

std::optional<double> run_in(const AdviceQuestion& question, Placement shape) {
  for (const ShapeOffer& offer : question.shapes)
    if (offer.shape == shape) return offer.run_s;
  return std::nullopt;
}

// Whether the task may be made smaller to this offer: it must keep a deadline that the request
// keeps, as far as a model says, and give GPU time back.
bool acceptable(const ShapeOffer& offer, const AdviceQuestion& question,
                std::optional<double> asked_run_s) {
  const double left_s = question.time_left_s.value_or(kNever);
  if (asked_run_s && *asked_run_s > left_s) return false;
  if (!offer.run_s) return !(asked_run_s && question.time_left_s);
  if (*offer.run_s > left_s) return false;
  return !asked_run_s || *offer.run_s * offer.shape.gpus() < *asked_run_s * question.asked.gpus();
}

// The smallest allowed shape with the GPUs that are needed; as asked if there is none.
Placement choose_shape(const AdviceQuestion& question, int needed) {
  const std::optional<double> asked_run_s = run_in(question, question.asked);
  const auto order = [](Placement shape) { return std::tuple(shape.gpus(), shape); };
  Placement best = question.asked;
  for (const ShapeOffer& offer : question.shapes) {
    if (offer.shape.gpus() < needed || offer.shape.gpus() >= question.asked.gpus()) continue;
    if (!acceptable(offer, question, asked_run_s)) continue;
    if (best == question.asked || order(offer.shape) < order(best)) best = offer.shape;
  }
  return best;
}

void tell_effect(GpuAdvice& advice, const AdviceQuestion& question, const Runs& runs) {
  advice.asked_run_s = run_in(question, advice.asked);
  advice.advised_run_s = run_in(question, advice.advised);
  advice.modelled = advice.asked_run_s && advice.advised_run_s;
  if (question.time_left_s && advice.advised_run_s)
    advice.deadline_kept = *advice.advised_run_s <= *question.time_left_s;
  if (!advice.modelled) {
    Tally past;
    for (const PortraitRun* run : runs)
      past.add(run->run_s);
    advice.asked_run_s = past.mean();
    advice.advised_run_s = past.mean();
  }
  advice.gpu_hours_returned =
      (*advice.asked_run_s * advice.asked.gpus() - *advice.advised_run_s * advice.advised.gpus()) /
      kHour_s;
}

std::optional<GpuAdvice> advise_gpus(const Portrait& portrait, const AdviceQuestion& question,
                                     const Runs& all) {
  const Runs runs = with_gpus_measured(all);
  if (runs.empty()) return std::nullopt;
  GpuAdvice advice;
  advice.asked = question.asked;
  Tally shares;
  Tally memory;
  for (const PortraitRun* run : runs) {
    shares.add(of_asked(*run, run->usage.gpu_share->mean));
    memory.add(of_asked(*run, run->usage.gpu_memory_share->max));
  }
  advice.utilisation = shares.mean();
  advice.memory_share = memory.max;
  const double wanted =
      question.asked.gpus() * std::max(advice.utilisation, advice.memory_share) / kGpuTarget;
  advice.needed =
      std::clamp(static_cast<int>(std::ceil(wanted * (1 - kTiny))), 1, question.asked.gpus());
  advice.advised = choose_shape(question, advice.needed);
  advice.evidence = evidence_of(runs, &UsageSample::gpu_share, portrait, question.match);
  tell_effect(advice, question, runs);
  return advice;
}

// `wanted`, above what was asked for only where `exceeded`; at least `least`, unless less was asked
// for.
AmountAdvice amount(std::int64_t asked, double used, double wanted, bool exceeded,
                    std::int64_t least) {
  constexpr double kMost = 9e18;
  AmountAdvice advice;
  advice.asked = asked;
  advice.used = used;
  const auto up = static_cast<std::int64_t>(std::ceil(std::min(wanted * (1 - kTiny), kMost)));
  advice.advised = std::max(up, least);
  if (!exceeded) advice.advised = std::min(advice.advised, asked);
  advice.raise = advice.advised > asked;
  return advice;
}

void advise_cpu(Advice& advice, const Portrait& portrait, const AdviceQuestion& question,
                const Runs& all) {
  constexpr double kMilli = 1000;
  const Runs runs = measured(all, &UsageSample::cpu_cores);
  if (runs.empty()) return;
  Tally means;
  Tally peaks;
  for (const PortraitRun* run : runs) {
    means.add(run->usage.cpu_cores->mean * kMilli);
    peaks.add(run->usage.cpu_cores->max * kMilli);
  }
  const PodRequests& asked = question.requests;
  const std::int64_t limit = asked.cpu_limit_milli.value_or(0);
  const bool at_limit = peaks.max >= kAtLimit * static_cast<double>(limit);
  advice.cpu_limit = amount(limit, peaks.max, peaks.max / kCpuTarget, at_limit, kLeastCpu_milli);
  if (!asked.cpu_limit_milli) advice.cpu_limit->raise = false;  // a limit at all is no raise
  const bool exceeded = means.mean() > static_cast<double>(asked.cpu_milli);
  advice.cpu_request =
      amount(asked.cpu_milli, means.mean(), means.mean() / kCpuTarget, exceeded, kLeastCpu_milli);
  // Kubernetes refuses a request above the limit.
  AmountAdvice& request = *advice.cpu_request;
  request.advised = std::min(request.advised, advice.cpu_limit->advised);
  request.raise = request.advised > request.asked;
  advice.cpu_limit->evidence = evidence_of(runs, &UsageSample::cpu_cores, portrait, question.match);
  request.evidence = advice.cpu_limit->evidence;
}

std::optional<AmountAdvice> advise_memory(const Portrait& portrait, const AdviceQuestion& question,
                                          const Runs& all) {
  const Runs runs = measured(all, &UsageSample::memory_bytes);
  const auto asked = static_cast<double>(question.requests.memory_bytes);
  Tally peaks;
  for (const PortraitRun* run : runs)
    peaks.add(run->usage.memory_bytes->max);
  bool exceeded = peaks.max > asked;
  bool shortage = false;
  double peak = peaks.max;
  for (const MemoryShortage& short_of : portrait.shortages) {
    if (short_of.at_s + kShortageSeen_s < question.now_s) continue;
    shortage = true;
    exceeded = exceeded || short_of.bytes >= asked;
    peak = std::max({peak, short_of.bytes * kShortageGrowth, short_of.bytes + kShortageBytes});
  }
  if (runs.empty() && !shortage) return std::nullopt;
  AmountAdvice advice = amount(question.requests.memory_bytes, peak, peak * (1 + kMemoryMargin),
                               exceeded, kLeastMemory_bytes);
  advice.shortage = shortage;
  advice.evidence = evidence_of(runs, &UsageSample::memory_bytes, portrait, question.match);
  return advice;
}

}  // namespace

Advice advise(const Portrait& portrait, const AdviceQuestion& question) {
  const Runs runs = evidence_on(portrait, question.gpu_type);
  Advice advice;
  advice.gpus = advise_gpus(portrait, question, runs);
  advise_cpu(advice, portrait, question, runs);
  advice.memory = advise_memory(portrait, question, runs);
  return advice;
}

std::vector<Placement> smaller_shapes(Placement asked) {
  std::vector<Placement> shapes;
  for (int d_gpn = 1; d_gpn <= asked.d_gpn; ++d_gpn)
    shapes.push_back({asked.d_node, d_gpn});
  for (int d_node = 1; d_node < asked.d_node; ++d_node)
    shapes.push_back({d_node, asked.d_gpn});
  return shapes;
}

std::vector<ShapeOffer> offers_of(const PreparedModel& model, double iterations,
                                  std::span<const Placement> shapes) {
  std::vector<ShapeOffer> offers;
  for (const Placement& shape : shapes) {
    const auto speed = model.predict(shape);
    offers.push_back({shape, std::nullopt});
    if (speed)
      offers.back().run_s =
          lat_s(speed->throughput_samples_per_s, model.batch(), iterations, model.startup_s());
  }
  return offers;
}

}  // namespace slackline::core
