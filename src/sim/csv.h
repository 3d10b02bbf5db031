// The plain CSV of traces and noise files: a fixed header, no quotes, LF or CRLF.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "slackline/base/result.h"
#include "slackline/base/text.h"

namespace slackline::sim {

// One line, cut into as many cells as the header has.
struct CsvRow {
  std::size_t line = 0;  // from 1, the header included
  std::vector<std::string_view> cells;
  const std::vector<std::string_view>* columns = nullptr;

  // "line 3: batch: what"
  tl::unexpected<Error> wrong(std::size_t column, std::string_view what) const;
  // A finite number that is at least `least`.
  Result<double> number(std::size_t column, double least) const;
  Result<std::int64_t> integer(std::size_t column, std::int64_t least) const;
};

// Rows under a header that must read exactly `columns`; empty lines are skipped. Rows look into
// `text` and at `columns`: both must outlive them.
Result<std::vector<CsvRow>> parse_csv(std::string_view text,
                                      const std::vector<std::string_view>& columns);

}  // namespace slackline::sim
