#include "sim/recorded_job.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>

#include "sim/backtest.h"
#include "sim/even_shape.h"
#include "slackline/base/text.h"
#include "slackline/core/planning/task_menu.h"
#include "slackline/core/throughput/throughput.h"

namespace slackline::sim {
namespace {

// Counts of assumptions, for the sentences that report them.
struct MadeUp {
  std::map<std::string, int> drawn_types;  // by recorded name; "" = the file has none
  int drawn_batches = 0;
  int drawn_classes = 0;
  int rounded_gpus = 0;
  int fewer_gpus = 0;
  int best_effort = 0;
  int cut = 0;
  int not_run = 0;
  int unannotated = 0;
  int unexpected = 0;  // of these: the rule says nothing
};

void sort_by_submission(std::vector<RecordedJob>& jobs) {
  std::stable_sort(jobs.begin(), jobs.end(), [](const RecordedJob& a, const RecordedJob& b) {
    return a.submit_s < b.submit_s;
  });
}

// What is expected of each job, by its line.
std::map<int, core::RunTimeFromHistory> expected_by_line(std::vector<RecordedJob> jobs,
                                                         const RecordedOptions& options) {
  std::map<int, core::RunTimeFromHistory> by_line;
  if (options.unannotated <= 0) return by_line;
  std::erase_if(jobs,
                [&](const RecordedJob& job) { return job.duration_s < options.least_duration_s; });
  for (RecordedJob& job : jobs)
    job.duration_s = std::min(job.duration_s, options.most_duration_s);
  const auto expected = expected_run_times(jobs, options.rule, options.family);
  for (std::size_t i = 0; i < jobs.size(); ++i)
    if (expected[i]) by_line.emplace(jobs[i].line, *expected[i]);
  return by_line;
}

void select(std::vector<RecordedJob>& jobs, const RecordedOptions& options, MadeUp& made_up) {
  const double zero = jobs.empty() ? 0 : jobs.front().submit_s;
  std::size_t seen = 0;
  std::erase_if(jobs, [&](const RecordedJob& job) {
    if (!job.cluster.ends_with(options.cluster)) return true;
    const double at_s = job.submit_s - zero;
    if (at_s < options.from_s || at_s >= options.from_s + options.for_s) return true;
    return seen++ % options.every != 0;
  });
  std::erase_if(jobs,
                [&](const RecordedJob& job) { return job.duration_s < options.least_duration_s; });
  const auto not_run = std::erase_if(
      jobs, [](const RecordedJob& job) { return job.gpus < 1 || !(job.duration_s > 0); });
  made_up.not_run = static_cast<int>(not_run);
  for (RecordedJob& job : jobs) {
    if (job.duration_s <= options.most_duration_s) continue;
    job.duration_s = options.most_duration_s;
    ++made_up.cut;
  }
}

// Draws the data that the recording lacks; converts the rest.
class Converter {
 public:
  explicit Converter(const RecordedOptions& options) : options_(options), random_(options.seed) {}

  Result<TraceTask> convert(const RecordedJob& job, double zero_s) {
    TraceTask task;
    task.submit_s = job.submit_s - zero_s;
    choose_workload(job, task);
    choose_gpus(job, task);
    SLACKLINE_TRY(choose_iterations(job, task));
    choose_deadline(job, task);
    task.line = job.line;
    if (std::max(task.batch, task.iterations) > kMostWork ||
        std::max(task.submit_s, std::abs(task.deadline_s)) > kMostTime_s)
      return fail(ErrorCode::kInvalidArgument,
                  format("line {}: batch {} and {} iterations may be at most {}; submit {} s and "
                         "deadline {} s, from the first job, at most {}",
                         job.line, task.batch, task.iterations, kMostWork, task.submit_s,
                         task.deadline_s, kMostTime_s));
    return task;
  }
  MadeUp made_up;

 private:
  const DrawRange* range_of(const std::string& type) const {
    const auto at = std::find_if(options_.ranges.begin(), options_.ranges.end(),
                                 [&](const DrawRange& range) { return range.type == type; });
    return at == options_.ranges.end() ? nullptr : &*at;
  }

  void choose_workload(const RecordedJob& job, TraceTask& task) {
    const bool known = options_.profiles->find(job.type, options_.gpu_type) != nullptr;
    const DrawRange* range =
        known ? range_of(job.type) : &options_.ranges[random_.index(options_.ranges.size())];
    task.type = known ? job.type : range->type;
    if (!known) ++made_up.drawn_types[job.type];
    if (known && job.batch) {
      task.batch = *job.batch;
      return;
    }
    ++made_up.drawn_batches;
    task.batch = range == nullptr ? kBatchWithoutRange
                                  : range->batches[random_.index(range->batches.size())];
  }

  void choose_gpus(const RecordedJob& job, TraceTask& task) {
    constexpr std::int64_t kMostGpus = 65536;
    const auto asked = static_cast<std::uint64_t>(std::clamp<std::int64_t>(job.gpus, 1, kMostGpus));
    task.request_gpus = static_cast<int>(std::bit_floor(asked));
    if (task.request_gpus != job.gpus) ++made_up.rounded_gpus;
  }

  // The speed is that of the largest count, up to the recorded one, that the profile predicts.
  Status choose_iterations(const RecordedJob& job, TraceTask& task) {
    const ProfileEntry* entry = options_.profiles->find(task.type, options_.gpu_type);
    for (int gpus = task.request_gpus; entry != nullptr && gpus >= 1; gpus /= 2) {
      const auto throughput =
          core::predict_throughput(entry->coefficients, task.batch,
                                   even_shape(gpus, options_.gpus_per_node), entry->model_parallel);
      if (!throughput) continue;
      if (gpus != task.request_gpus) ++made_up.fewer_gpus;
      task.iterations = job.duration_s * *throughput / task.batch;
      if (std::isfinite(task.iterations) && task.iterations > 0) return {};
    }
    return fail(ErrorCode::kInvalidArgument,
                format("line {}: no profile predicts {} with batch {} on {}; give --profile one "
                       "that does",
                       job.line, task.type, task.batch, options_.gpu_type.str()));
  }

  void choose_deadline(const RecordedJob& job, TraceTask& task) {
    task.qos = QosClass::kNormal;
    if (job.deadline_s && !job.best_effort) {
      task.deadline_s = *job.deadline_s - (job.submit_s - task.submit_s);
      return;
    }
    if (job.best_effort) {
      ++made_up.best_effort;
    } else {
      ++made_up.drawn_classes;
      task.qos = draw_class(random_, options_.mix);
    }
    task.deadline_s = task.submit_s + kappa_of(task.qos, options_.kappa) * job.duration_s;
  }

  static constexpr double kBatchWithoutRange = 64;
  const RecordedOptions& options_;
  Random random_;
};

// Takes the annotations from some of the tasks; the draws are their own, so that the rest of a
// trace stays as it is.
class Unannotated {
 public:
  explicit Unannotated(const RecordedOptions& options)
      : options_(options), random_(options.seed ^ 0x73696c656e74U) {}

  void maybe(const RecordedJob& job, const std::map<int, core::RunTimeFromHistory>& expected,
             TraceTask& task, MadeUp& made_up) {
    if (options_.unannotated <= 0 || random_.uniform() >= options_.unannotated) return;
    ++made_up.unannotated;
    task.expected = ExpectedRun{core::kUnknownRun_s, core::kUnknownError, job.duration_s};
    const auto known = expected.find(job.line);
    if (known == expected.end()) {
      ++made_up.unexpected;
      return;
    }
    task.expected->run_s = known->second.median_s;
    task.expected->error = core::error_of(known->second);
  }

 private:
  const RecordedOptions& options_;
  Random random_;
};

std::vector<std::string> sentences(const MadeUp& made_up, const RecordedOptions& options,
                                   std::size_t kept, std::size_t read) {
  std::vector<std::string> said;
  const auto say_if = [&](int count, std::string_view what) {
    if (count > 0) said.push_back(format("{} of {} jobs: {}.", count, kept, what));
  };
  said.push_back(
      format("{} of the {} jobs of the file were kept; time 0 is the first of them.", kept, read));
  said.push_back(
      format("Iterations are what the recorded duration does on the recorded GPUs, by "
             "the profile of {}.",
             options.gpu_type.str()));
  if (made_up.not_run > 0)
    said.push_back(format("{} jobs without a GPU or a duration are left out.", made_up.not_run));
  for (const auto& [name, count] : made_up.drawn_types)
    say_if(count, name.empty() ? std::string("the type is drawn, because the file has none")
                               : format("{} has no profile, the type is drawn", name));
  say_if(made_up.drawn_batches, "the batch is drawn");
  say_if(made_up.drawn_classes, "the class is drawn, deadline = submit + kappa x duration");
  say_if(made_up.best_effort, "best effort, deadline = submit + kappa of Normal x duration");
  say_if(made_up.rounded_gpus, "the GPU count is rounded down to a power of two");
  say_if(made_up.fewer_gpus, "the profile predicts only fewer GPUs; the speed is that of those");
  say_if(
      made_up.unannotated,
      format("says nothing of its length; expected by the rule \"{}\", and to take as much longer "
             "as --max-gpus leaves it fewer GPUs",
             to_string(options.rule)));
  say_if(made_up.unexpected, "of these the rule says nothing, an hour is expected");
  say_if(made_up.cut, format("cut at {} h", options.most_duration_s / 3600));
  return said;
}

}  // namespace

Result<Trace> trace_of(std::vector<RecordedJob> jobs, const RecordedOptions& options,
                       std::vector<std::string> assumptions) {
  if (options.ranges.empty())
    return fail(ErrorCode::kInvalidArgument,
                format("the profiles have no type that can be predicted on {}",
                       options.gpu_type.empty() ? "the first pool" : options.gpu_type.str()));
  const std::size_t read = jobs.size();
  sort_by_submission(jobs);
  const auto expected = expected_by_line(jobs, options);
  Unannotated unannotated(options);
  Converter converter(options);
  select(jobs, options, converter.made_up);
  if (jobs.empty())
    return fail(ErrorCode::kInvalidArgument,
                format("none of the {} jobs of the file are in the selection", read));
  Trace trace;
  for (const RecordedJob& job : jobs) {
    SLACKLINE_ASSIGN(TraceTask task, converter.convert(job, jobs.front().submit_s));
    task.id = static_cast<std::int64_t>(trace.tasks.size());
    unannotated.maybe(job, expected, task, converter.made_up);
    trace.tasks.push_back(std::move(task));
  }
  trace.assumptions = std::move(assumptions);
  for (std::string& sentence : sentences(converter.made_up, options, jobs.size(), read))
    trace.assumptions.push_back(std::move(sentence));
  return trace;
}

}  // namespace slackline::sim
