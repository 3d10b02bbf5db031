// The terminal of standard output.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "client/terminal_table.h"

namespace slackline::cli {

bool is_terminal();  // standard output

struct TerminalSize {
  std::size_t lines = 24;
  std::size_t columns = 80;
};
TerminalSize terminal_size();

// An answer, with a last newline. At a terminal, characters that it would obey or that nobody sees
// are escaped: the texts of an answer are other people's.
void print_answer(const std::string& text);

// Colours if NO_COLOR is unset or empty and the terminal supports them; the time zone is that of
// TZ.
client::TerminalStyle terminal_style(std::string_view output);

}  // namespace slackline::cli
