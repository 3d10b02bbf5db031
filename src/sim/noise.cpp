#include "sim/noise.h"

#include <cmath>
#include <limits>

#include "sim/csv.h"
#include "sim/random.h"

namespace slackline::sim {
namespace {

const std::vector<std::string> kColumns = {"task", "type", "pool", "d_node", "d_gn", "factor"};

Status read_row(const CsvRow& row, Noise& noise) {
  SLACKLINE_ASSIGN(const double factor, row.number(5, std::numeric_limits<double>::min()));
  const bool names_shape = !row.cells[1].empty() || !row.cells[2].empty() ||
                           !row.cells[3].empty() || !row.cells[4].empty();
  if (row.cells[0].empty() == !names_shape)
    return row.wrong(0, "a row names either a task, or a type, pool, d_node and d_gn");
  if (!names_shape) {
    SLACKLINE_ASSIGN(const std::int64_t id, row.integer(0, 0));
    noise.set_task(id, factor);
    return {};
  }
  SLACKLINE_ASSIGN(const std::int64_t d_node, row.integer(3, 1));
  SLACKLINE_ASSIGN(const std::int64_t d_gpn, row.integer(4, 1));
  const Placement shape{static_cast<int>(d_node), static_cast<int>(d_gpn)};
  noise.set_shape(row.cells[1], row.cells[2], shape, factor);
  return {};
}

}  // namespace

double Noise::factor(const core::PlanTask& task, const std::string& pool, Placement shape) const {
  if (exact()) return 1;
  double factor = 1;
  const auto of_shape = shapes_.find({task.type, pool, shape});
  if (of_shape != shapes_.end()) factor *= of_shape->second;
  const auto of_task = tasks_.find(task.id);
  if (of_task != tasks_.end()) factor *= of_task->second;
  return factor;
}

Result<Noise> parse_noise_csv(std::string_view text) {
  SLACKLINE_ASSIGN(const std::vector<CsvRow> rows, parse_csv(text, kColumns));
  Noise noise;
  for (const CsvRow& row : rows)
    SLACKLINE_TRY(read_row(row, noise));
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
        noise.set_shape(type, pool.type.str(), shape, draw(shapes));
  for (const core::PlanTask& task : tasks.tasks())
    noise.set_task(task.id, draw(each));
  return noise;
}

}  // namespace slackline::sim
