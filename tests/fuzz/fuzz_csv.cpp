// CSV: what was read can be written and read again, cell for cell; lines only go up.
#include "fuzz/fuzz.h"
#include "wire/format/csv.h"

using namespace slackline;
using namespace slackline::fuzz;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto table = wire::read_csv(text_of(data, size));
  if (!table) {
    require(!table.error().message.empty(), "an error tells what is wrong");
    return 0;
  }
  std::string text;
  wire::append_csv_row(text, table->header);
  int line = 1;
  for (const wire::CsvRow& row : table->rows) {
    require(row.line > line || (row.line == line && line == 1), "lines go up");
    line = row.line;
    wire::append_csv_row(text, row.cells);
  }
  const auto again = wire::read_csv(text);
  require(again.has_value(), "CSV that was written can be read");
  require(again->header == table->header && again->rows.size() == table->rows.size(),
          "header and rows come back");
  for (std::size_t i = 0; i < table->rows.size(); ++i)
    require(again->rows[i].cells == table->rows[i].cells, "cells come back");
  return 0;
}
