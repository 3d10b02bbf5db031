// Tables for a person at a terminal: times of the day there, columns that fit its width, colours
// that say no more than the words they are put on.
#pragma once

#include <cstddef>
#include <ctime>
#include <functional>
#include <string>

#include "wire/format/cells.h"

namespace slackline::client {

struct TerminalStyle {
  std::size_t width = 80;  // columns of the screen; 0: nothing is left out to fit
  bool wide = false;       // all columns, however wide the screen
  bool colour = false;
  double now_s = 0;  // epoch seconds
  // Epoch seconds as the time of the day where the person is.
  std::function<std::tm(double epoch_s)> local;
};

// "14:02 in 1h03m", "Tue 14:02", "2027-03-01 14:02". Relative where it is less than a day away and
// `relative` is set.
std::string local_time(double epoch_s, const TerminalStyle& style, bool relative);

// What does not fit is given up in this order: how far away times are, lesser columns, the ends of
// long cells, the last columns. The last line names the columns that are left out.
std::string terminal_table(const wire::Cells& cells, const TerminalStyle& style);

}  // namespace slackline::client
