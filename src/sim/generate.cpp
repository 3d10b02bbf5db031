#include "sim/generate.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "slackline/base/duration.h"
#include "slackline/base/text.h"
#include "slackline/core/throughput/throughput.h"

namespace slackline::sim {
namespace {

Status check(const GenerateOptions& options, const std::vector<DrawRange>& ranges) {
  const auto wrong = [](std::string message) {
    return fail(ErrorCode::kInvalidArgument, std::move(message));
  };
  if (!(options.rate_per_h > 0) || !std::isfinite(options.rate_per_h))
    return wrong("the rate must be a positive number of tasks per hour");
  if (!(options.hours > 0) || !std::isfinite(options.hours))
    return wrong("the duration must be a positive number of hours");
  if (options.rate_per_h * options.hours > kMaxGenerated)
    return wrong(format("rate x hours is more than {} tasks", kMaxGenerated));
  if (options.requests.empty()) return wrong("there is no GPU count to draw requests from");
  if (ranges.empty())
    return wrong(format("the profiles have no type that can be predicted on {}",
                        options.gpu_type.empty() ? "the first pool" : options.gpu_type.str()));
  return {};
}

constexpr std::array<std::string_view, 6> kPaperNets = {"alexnet", "googlenet", "inception3",
                                                        "lstm",    "resnet50",  "seq2seq"};

// The types to draw, in the order of `ranges`; notes where they are not the paper's.
std::vector<DrawRange> drawn_ranges(const std::vector<DrawRange>& ranges,
                                    std::vector<std::string>& assumptions) {
  std::vector<DrawRange> drawn;
  for (const DrawRange& range : ranges)
    if (std::find(kPaperNets.begin(), kPaperNets.end(), range.type) != kPaperNets.end())
      drawn.push_back(range);
  if (drawn.size() == kPaperNets.size()) return drawn;
  if (drawn.empty()) drawn = ranges;
  std::vector<std::string> names;
  for (const DrawRange& range : drawn)
    names.push_back(range.type);
  assumptions.push_back(
      format("The profiles do not know all six networks of paper 000; drawn instead: {}.",
             join(names, ", ")));
  return drawn;
}

// As a trace file writes it, so that a trace that was written and read is the same trace.
double to_nanosecond(double time_s) {
  return std::round(time_s * 1e9) / 1e9;
}

// Everything but id and arrival.
TraceTask draw_task(Random& random, const GenerateOptions& options,
                    const std::vector<DrawRange>& ranges) {
  const DrawRange& range = ranges[random.index(ranges.size())];
  TraceTask task;
  task.type = range.type;
  task.batch = range.batches[random.index(range.batches.size())];
  const double span = range.most_iterations - range.least_iterations;
  task.iterations = range.least_iterations +
                    static_cast<double>(random.index(static_cast<std::uint64_t>(span) + 1));
  task.gpu_types = options.gpu_types;
  task.qos = draw_class(random, options.mix);
  task.request_gpus = options.requests[random.index(options.requests.size())];
  return task;
}

}  // namespace

Result<ClassMix> parse_class_mix(std::string_view text) {
  const auto pieces = split(text, ':');
  std::array<double, 3> weights{};
  double total = 0;
  bool valid = pieces.size() == weights.size();
  for (std::size_t i = 0; valid && i < weights.size(); ++i) {
    const auto weight = parse_number(pieces[i]);
    valid = weight && *weight >= 0 && std::isfinite(*weight);
    if (valid) total += weights[i] = *weight;
  }
  if (!valid || !(total > 0) || !std::isfinite(total))
    return fail(ErrorCode::kInvalidArgument,
                format("\"{}\": write the weights of Urgent:Prior:Normal, as 5:35:60",
                       printable(text, 40)));
  return ClassMix{weights[0], weights[1], weights[2]};
}

QosClass draw_class(Random& random, const ClassMix& mix) {
  constexpr std::array kClasses = {QosClass::kUrgent, QosClass::kPrior, QosClass::kNormal};
  const std::array weights = {mix.urgent, mix.prior, mix.normal};
  return kClasses[random.weighted(weights)];
}

double kappa_of(QosClass qos, const core::DeadlineFactors& kappa) {
  switch (qos) {
    case QosClass::kUrgent:
      return kappa.urgent;
    case QosClass::kPrior:
      return kappa.prior;
    case QosClass::kNormal:
      break;
  }
  return kappa.normal;
}

Result<Trace> generate_paper000(const GenerateOptions& options,
                                const std::vector<DrawRange>& ranges,
                                const WorkloadProfiles& profiles) {
  SLACKLINE_TRY(check(options, ranges));
  Random random(options.seed);
  Trace trace;
  const std::vector<DrawRange> drawn = drawn_ranges(ranges, trace.assumptions);
  double submit_s = 0;
  const double end_s = options.hours * kHour_s;
  for (;;) {
    submit_s += random.exponential(kHour_s / options.rate_per_h);
    if (submit_s >= end_s) break;
    TraceTask task = draw_task(random, options, drawn);
    task.id = static_cast<std::int64_t>(trace.tasks.size());
    task.submit_s = to_nanosecond(submit_s);
    const ProfileEntry* entry = profiles.find(task.type, options.gpu_type);
    const auto lat11_s = entry == nullptr
                             ? std::nullopt
                             : core::predict_lat_s(entry->coefficients, task.batch, task.iterations,
                                                   Placement{1, 1}, entry->startup_s);
    if (!lat11_s)
      return fail(ErrorCode::kInvalidArgument,
                  format("{}: the profiles predict no run on one GPU of {} with batch {}",
                         task.type, options.gpu_type.str(), task.batch));
    task.deadline_s = to_nanosecond(task.submit_s + kappa_of(task.qos, options.kappa) * *lat11_s);
    trace.tasks.push_back(std::move(task));
  }
  trace.assumptions.push_back(
      format("Generated: Poisson arrivals, {} per hour for {} h, seed {}; deadline = submit + "
             "kappa x Lat<1,1> on {}.",
             options.rate_per_h, options.hours, options.seed, options.gpu_type.str()));
  return trace;
}

}  // namespace slackline::sim
