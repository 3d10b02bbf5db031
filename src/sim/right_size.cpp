#include "sim/right_size.h"

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "sim/csv_rows.h"
#include "sim/even_shape.h"
#include "slackline/base/duration.h"
#include "slackline/base/text.h"
#include "slackline/core/portrait/advice.h"
#include "slackline/core/portrait/learn.h"
#include "wire/format/csv.h"

namespace slackline::sim {
namespace {

constexpr int kNode = 8;  // GPUs
constexpr double kMilliCores = 1000;
const std::vector<std::string> kTaskColumns = {"task",    "gpus",       "cores",      "hours",
                                               "gpu_use", "gpu_memory", "cores_used", "cores_max"};

std::int64_t of_a_pod(double cores, int pods) {
  return std::llround(cores * kMilliCores / pods);
}

PortraitRun run_of(const SizedTask& task, int number) {
  PortraitRun run;
  run.usage.run = Uid(std::to_string(number));
  run.shape = even_shape(task.gpus, kNode);
  run.asked = run.shape;
  const int pods = run.shape.d_node;
  run.requests.cpu_milli = of_a_pod(task.cores, pods);
  run.run_s = task.hours * kHour_s;
  run.finished_s = run.run_s * (number + 1);
  run.usage.gpus = UsageQuality::kMeasured;
  run.usage.gpu_share = Usage{task.gpu_use, 1, run.run_s};
  run.usage.gpu_memory_share = Usage{task.gpu_memory, task.gpu_memory, run.run_s};
  run.usage.cpu_cores = Usage{task.cores_used / pods, task.cores_max / pods, run.run_s};
  return run;
}

void size_task(SizedTask& task) {
  constexpr int kRuns = 3;
  Portrait portrait;
  for (int number = 0; number < kRuns; ++number)
    core::add_run(portrait, run_of(task, number));
  core::AdviceQuestion question;
  question.asked = even_shape(task.gpus, kNode);
  question.requests = portrait.requests;
  for (const Placement& shape : core::smaller_shapes(question.asked))
    question.shapes.push_back({shape, std::nullopt});
  const core::Advice advice = core::advise(portrait, question);
  task.advised_gpus = task.gpus;
  task.advised_cores = task.cores;
  if (advice.gpus && advice.gpus->advised != question.asked)
    task.advised_gpus = advice.gpus->advised.gpus();
  if (advice.cpu_request)
    task.advised_cores = static_cast<double>(advice.cpu_request->advised) *
                         static_cast<double>(question.asked.d_node) / kMilliCores;
}

struct Hours {
  double asked = 0;
  double advised = 0;
  double used = 0;
};

std::string percent_of(double used, double asked) {
  return asked > 0 ? format("{:.2f}", 100 * used / asked) : "";
}

}  // namespace

Result<std::vector<SizedTask>> parse_sized_tasks(std::string_view text) {
  constexpr std::int64_t kMostGpus = 65536;
  SLACKLINE_ASSIGN(const std::vector<CsvRow> rows, parse_csv(text, kTaskColumns));
  std::vector<SizedTask> tasks;
  std::unordered_set<std::string> names;
  for (const CsvRow& row : rows) {
    SizedTask task;
    task.task = row.cells[0];
    SLACKLINE_ASSIGN(const std::int64_t gpus, row.integer(1, 1));
    if (gpus > kMostGpus) return row.wrong(1, format("at most {}", kMostGpus));
    task.gpus = static_cast<int>(gpus);
    double* const numbers[] = {&task.cores,      &task.hours,      &task.gpu_use,
                               &task.gpu_memory, &task.cores_used, &task.cores_max};
    for (std::size_t i = 0; i < std::size(numbers); ++i) {
      SLACKLINE_ASSIGN(*numbers[i], row.number(i + 2, 0));
    }
    if (task.gpu_use > 1 || task.gpu_memory > 1)
      return row.wrong(task.gpu_use > 1 ? 4 : 5, "must be a share from 0 to 1");
    constexpr double kMost = 1e6;  // cores, hours
    for (const std::size_t i : {0U, 1U, 4U, 5U})
      if (*numbers[i] > kMost) return row.wrong(i + 2, "must be at most 1,000,000");
    if (task.cores_max < task.cores_used)
      return row.wrong(7, format("is less than cores_used, {}: the most cannot be below the mean",
                                 task.cores_used));
    if (!names.insert(task.task).second)
      return row.wrong(0, "is given twice: write one row for each task");
    tasks.push_back(std::move(task));
  }
  return tasks;
}

void right_size(std::vector<SizedTask>& tasks) {
  for (SizedTask& task : tasks)
    size_task(task);
}

std::string format_sized_tasks_csv(const std::vector<SizedTask>& tasks) {
  std::vector<std::string> head = kTaskColumns;
  head.insert(head.end(), {"advised_gpus", "advised_cores"});
  std::string csv;
  wire::append_csv_row(csv, head);
  for (const SizedTask& task : tasks)
    wire::append_csv_row(
        csv, {task.task, std::to_string(task.gpus), format("{}", task.cores),
              format("{}", task.hours), format("{}", task.gpu_use), format("{}", task.gpu_memory),
              format("{}", task.cores_used), format("{}", task.cores_max),
              std::to_string(task.advised_gpus), format("{}", task.advised_cores)});
  return csv;
}

wire::TextTable right_size_table(const std::vector<SizedTask>& tasks) {
  Hours gpus;
  Hours cores;
  for (const SizedTask& task : tasks) {
    gpus.asked += task.gpus * task.hours;
    gpus.advised += task.advised_gpus * task.hours;
    gpus.used += task.gpus * task.gpu_use * task.hours;
    cores.asked += task.cores * task.hours;
    cores.advised += task.advised_cores * task.hours;
    cores.used += task.cores_used * task.hours;
  }
  wire::TextTable table(
      {"RESOURCE", ">ASKED H", ">ADVISED H", ">USED H", ">USE ASKED %", ">USE ADVISED %"});
  for (const auto& [name, hours] : {std::pair{"gpu", gpus}, std::pair{"cpu", cores}})
    table.add({name, format("{:.1f}", hours.asked), format("{:.1f}", hours.advised),
               format("{:.1f}", hours.used), percent_of(hours.used, hours.asked),
               percent_of(hours.used, hours.advised)});
  return table;
}

}  // namespace slackline::sim
