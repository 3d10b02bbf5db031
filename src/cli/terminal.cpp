#include "cli/terminal.h"

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string_view>

#include <sys/ioctl.h>
#include <unistd.h>

#include "slackline/base/clock.h"
#include "slackline/base/text.h"

namespace slackline::cli {
namespace {

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::tm local(double epoch_s) {
  const auto seconds = static_cast<std::time_t>(epoch_s);
  std::tm time{};
  localtime_r(&seconds, &time);
  return time;
}

}  // namespace

bool is_terminal() {
  return isatty(STDOUT_FILENO) == 1;
}

void print_answer(const std::string& text) {
  std::fputs(is_terminal() ? printable_lines(text).c_str() : text.c_str(), stdout);
  if (!text.empty() && text.back() != '\n') std::fputc('\n', stdout);
}

TerminalSize terminal_size() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return {};
  const TerminalSize usual;
  return {size.ws_row > 4 ? size.ws_row : usual.lines,
          size.ws_col > 0 ? size.ws_col : usual.columns};
}

client::TerminalStyle terminal_style(std::string_view output) {
  client::TerminalStyle style;
  style.width = terminal_size().columns;
  style.wide = output == "wide";
  style.colour = environment("NO_COLOR").empty() && environment("TERM") != "dumb";
  style.now_s = system_clock().wall_s();
  style.local = local;
  return style;
}

}  // namespace slackline::cli
