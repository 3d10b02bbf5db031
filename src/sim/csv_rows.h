// The CSV of Slackline's own formats (traces, noise): wire's CSV with exactly the columns of the
// format, and typed cells.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "slackline/base/result.h"

namespace slackline::sim {

inline constexpr double kAnyNumber = std::numeric_limits<double>::max();

struct CsvRow {
  int line = 0;                    // from 1
  std::vector<std::string> cells;  // as many as columns
  const std::vector<std::string>* columns = nullptr;

  // `line 3: batch "x": what`
  tl::unexpected<Error> wrong(std::size_t column, std::string_view what) const;
  // A finite number from `least` to `most`.
  Result<double> number(std::size_t column, double least, double most = kAnyNumber) const;
  // The same, above 0.
  Result<double> positive(std::size_t column, double most = kAnyNumber) const;
  Result<std::int64_t> integer(std::size_t column, std::int64_t least) const;
};

// Rows refer to `columns`, which must outlive them.
Result<std::vector<CsvRow>> parse_csv(std::string_view text,
                                      const std::vector<std::string>& columns);

}  // namespace slackline::sim
