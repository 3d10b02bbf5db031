// The terminal of standard output.
#pragma once

#include <cstddef>
#include <string_view>

#include "client/terminal_table.h"

namespace slackline::cli {

bool is_terminal();  // standard output

struct TerminalSize {
  std::size_t lines = 24;
  std::size_t columns = 80;
};
TerminalSize terminal_size();

// Colours if NO_COLOR is unset or empty and the terminal supports them; the time zone is that of
// TZ.
client::TerminalStyle terminal_style(std::string_view output);

}  // namespace slackline::cli
