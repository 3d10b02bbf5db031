#include "sim/noise.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/csv_rows.h"
#include "slackline/base/random.h"
#include "slackline/base/text.h"

namespace slackline::sim {
namespace {

const std::vector<std::string> kNoiseColumns = {"task", "type", "pool", "d_node", "d_gn", "factor"};

// 0 where the field is empty.
Result<int> read_side(const CsvRow& row, std::size_t column) {
  if (row.cells[column].empty()) return 0;
  SLACKLINE_ASSIGN(const std::int64_t side, row.integer(column, 1));
  return static_cast<int>(std::min<std::int64_t>(side, std::numeric_limits<int>::max()));
}

Result<NoiseRow> read_row(const CsvRow& cells) {
  NoiseRow row;
  row.line = cells.line;
  if (!cells.cells[0].empty()) {
    SLACKLINE_ASSIGN(row.task, cells.integer(0, 0));
  }
  row.type = cells.cells[1];
  row.pool = cells.cells[2];
  SLACKLINE_ASSIGN(row.d_node, read_side(cells, 3));
  SLACKLINE_ASSIGN(row.d_gpn, read_side(cells, 4));
  SLACKLINE_ASSIGN(row.factor, cells.positive(5));
  return row;
}

bool matches(const NoiseRow& row, const core::PlanTask& task, const std::string& pool,
             Placement shape) {
  return (row.type.empty() || row.type == task.type) && (row.pool.empty() || row.pool == pool) &&
         (row.d_node == 0 || row.d_node == shape.d_node) &&
         (row.d_gpn == 0 || row.d_gpn == shape.d_gpn);
}

struct Known {
  const std::vector<core::Pool>& pools;
  const core::TaskTable& tasks;
  const WorkloadProfiles& profiles;

  bool pool(std::string_view name) const {
    return std::any_of(pools.begin(), pools.end(),
                       [&](const core::Pool& pool) { return pool.type.str() == name; });
  }
  bool task(std::int64_t id) const {
    return std::any_of(tasks.tasks().begin(), tasks.tasks().end(),
                       [&](const core::PlanTask& task) { return task.id == id; });
  }
};

Status can_match(const NoiseRow& row, const Known& known) {
  std::string what;
  if (!row.pool.empty() && !known.pool(row.pool))
    what = format(
        "pool \"{0}\", which the platform does not have; name the pool, as in --platform "
        "4x4:{0}",
        printable(row.pool, 40));
  else if (!row.type.empty() && !known.profiles.knows_model(row.type))
    what = format("type \"{}\", of which there is no profile", printable(row.type, 40));
  else if (row.task && !known.task(*row.task))
    what = format("task {}, which the trace does not have", *row.task);
  if (what.empty()) return {};
  return fail(ErrorCode::kInvalidArgument, format("line {}: the noise is for {}", row.line, what));
}

}  // namespace

void Noise::add(NoiseRow row) {
  (row.task ? of_task_[*row.task] : of_all_).push_back(std::move(row));
}

double Noise::factor(const core::PlanTask& task, const std::string& pool, Placement shape) const {
  double factor = 1;
  for (const NoiseRow& row : of_all_)
    if (matches(row, task, pool, shape)) factor *= row.factor;
  const auto own = of_task_.find(task.id);
  if (own == of_task_.end()) return factor;
  for (const NoiseRow& row : own->second)
    if (matches(row, task, pool, shape)) factor *= row.factor;
  return factor;
}

double Noise::true_work_s(const core::PlanTask& task, const std::vector<core::Pool>& pools,
                          const core::Choice& choice) const {
  return choice.work_s * factor(task, pools[choice.pool].type.str(), choice.shape);
}

Status Noise::check(const std::vector<core::Pool>& pools, const core::TaskTable& tasks,
                    const WorkloadProfiles& profiles) const {
  const Known known{pools, tasks, profiles};
  for (const NoiseRow& row : of_all_)
    SLACKLINE_TRY(can_match(row, known));
  for (const auto& [task, rows] : of_task_)
    for (const NoiseRow& row : rows)
      SLACKLINE_TRY(can_match(row, known));
  return {};
}

Result<Noise> parse_noise_csv(std::string_view text) {
  SLACKLINE_ASSIGN(const std::vector<CsvRow> rows, parse_csv(text, kNoiseColumns));
  Noise noise;
  for (const CsvRow& cells : rows) {
    SLACKLINE_ASSIGN(NoiseRow row, read_row(cells));
    noise.add(std::move(row));
  }
  return noise;
}

Noise draw_noise(const core::TaskTable& tasks, const std::vector<core::Pool>& pools, double sigma,
                 std::uint64_t seed) {
  // Shapes and tasks have streams of their own: another task list keeps the errors of the shapes.
  Random shapes(seed);
  Random each(seed ^ 0x7461736b73U);
  const auto draw = [&](Random& random) {
    return std::exp(sigma * random.normal() / std::sqrt(2.0));
  };
  Noise noise;
  for (const std::string& type : tasks.types())
    for (const core::Pool& pool : pools)
      for (const Placement& shape : core::enumerate_placements(pool, {}))
        noise.add({std::nullopt, type, pool.type.str(), shape.d_node, shape.d_gpn, draw(shapes)});
  for (const core::PlanTask& task : tasks.tasks())
    noise.add({task.id, "", "", 0, 0, draw(each)});
  return noise;
}

}  // namespace slackline::sim
