// Tables for a person at a terminal: local times, columns that fit its width, colours that only
// repeat what the words say.
#pragma once

#include <cstddef>
#include <ctime>
#include <functional>
#include <string>

#include "wire/format/cells.h"

namespace slackline::client {

struct TerminalStyle {
  std::size_t width = 80;  // columns of the screen; 0: no limit
  bool wide = false;       // all columns, however wide the screen
  bool colour = false;
  double now_s = 0;  // epoch seconds
  // Epoch seconds as local time.
  std::function<std::tm(double epoch_s)> local;
};

// "14:02 in 1h03m", "Tue 14:02", "2027-03-01 14:02". Relative if it is less than a day away and
// `relative` is set.
std::string local_time(double epoch_s, const TerminalStyle& style, bool relative);

// To fit, the table leaves out in this order: relative times, lesser columns, the ends of long
// cells, the last columns. The last line names the columns that are left out.
std::string terminal_table(const wire::Cells& cells, const TerminalStyle& style);

}  // namespace slackline::client
