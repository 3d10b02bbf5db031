#include "sim/scaling_table.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "slackline/base/text.h"
#include "slackline/core/throughput/throughput.h"
#include "wire/format/csv.h"

namespace slackline::sim {
namespace {

constexpr std::string_view kBatchColumn = "global_batch_size";
constexpr std::string_view kKind = "table";
constexpr std::size_t kParamsPerCell = 3;  // of the params: batch, GPUs, samples per second

Result<double> positive(std::string_view cell, int line, std::string_view column) {
  const auto number = parse_number(cell);
  if (!number || !std::isfinite(*number) || !(*number > 0))
    return fail(ErrorCode::kInvalidArgument,
                format("line {}: {}: \"{}\" must be a positive number", line, printable(column, 40),
                       printable(cell, 40)));
  return *number;
}

}  // namespace

Result<ProfileEntry> read_scaling_table(std::string_view text, const std::string& model,
                                        const GpuType& gpu_type) {
  SLACKLINE_ASSIGN(const wire::CsvTable table, wire::read_csv(text));
  SLACKLINE_ASSIGN(const std::size_t batch_column, table.require(kBatchColumn));
  std::vector<std::array<double, kParamsPerCell>> cells;
  for (const wire::CsvRow& row : table.rows) {
    SLACKLINE_ASSIGN(const double batch, positive(row.cell(batch_column), row.line, kBatchColumn));
    for (std::size_t column = 0; column < table.header.size(); ++column) {
      const std::string_view cell = row.cell(column);
      if (column == batch_column || cell.empty() || cell == "0") continue;
      SLACKLINE_ASSIGN(const double gpus, positive(table.header[column], 1, table.header[column]));
      SLACKLINE_ASSIGN(const double iterations_per_s,
                       positive(cell, row.line, table.header[column]));
      cells.push_back({batch, gpus, iterations_per_s * batch});
    }
  }
  std::sort(cells.begin(), cells.end());
  ProfileEntry entry;
  entry.model = model;
  entry.gpu_type = gpu_type;
  entry.coefficients.kind = kKind;
  for (const auto& cell : cells)
    entry.coefficients.params.insert(entry.coefficients.params.end(), cell.begin(), cell.end());
  entry.points = static_cast<int>(cells.size());
  entry.source = "strong-scaling table, as measured";
  if (!core::valid_coefficients(entry.coefficients))
    return fail(ErrorCode::kInvalidArgument,
                "the table must have a value, and each batch and each number of GPUs only once");
  return entry;
}

std::vector<double> measured_batches(const Coefficients& coefficients) {
  std::vector<double> batches;
  if (coefficients.kind != kKind) return batches;
  for (std::size_t i = 0; i + 2 < coefficients.params.size(); i += kParamsPerCell)
    if (batches.empty() || batches.back() != coefficients.params[i])
      batches.push_back(coefficients.params[i]);
  return batches;
}

}  // namespace slackline::sim
