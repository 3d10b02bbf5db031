// A recording read by column names: the common part of the readers of trace formats.
//
// Every wrong cell is noted with line and column; finish() reports them together.
#pragma once

#include <initializer_list>
#include <optional>
#include <string_view>
#include <vector>

#include "sim/recorded_job.h"
#include "slackline/base/result.h"
#include "wire/format/csv.h"

namespace slackline::sim {

class JobTable {
 public:
  explicit JobTable(const wire::CsvTable& table) : table_(table) {}

  // The first of the names that is a column; the tables of one format differ in such names.
  std::optional<std::size_t> find(std::initializer_list<std::string_view> names) const;
  // kInvalidArgument: names them and the columns that are there.
  Result<std::size_t> require(std::initializer_list<std::string_view> names) const;

  // A finite number of at least `least` (and at most kMostTime_s); 0 and a problem otherwise.
  double number(const wire::CsvRow& row, std::size_t column, double least);
  // Empty cells and missing columns are nullopt.
  std::optional<double> optional_number(const wire::CsvRow& row, std::optional<std::size_t> column,
                                        double least);
  // Epoch seconds of "2017-10-03 07:10:26" (a 'T' between, fractions and suffixes of the seconds
  // are ignored), or a number of seconds.
  double time(const wire::CsvRow& row, std::size_t column);
  std::string_view text(const wire::CsvRow& row, std::optional<std::size_t> column) const;
  void problem(const wire::CsvRow& row, std::size_t column, std::string_view what);

  // `jobs`, unless there was a problem.
  Result<std::vector<RecordedJob>> finish(std::vector<RecordedJob> jobs) const;

  const std::vector<wire::CsvRow>& rows() const { return table_.rows; }

 private:
  const wire::CsvTable& table_;
  wire::RowProblems problems_;
};

}  // namespace slackline::sim
