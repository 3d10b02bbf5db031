#include "cli/ask/watch.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <string_view>
#include <vector>

#include <unistd.h>

#include "cli/exit_codes.h"
#include "cli/terminal.h"
#include "cli/text_files.h"
#include "slackline/base/clock.h"
#include "slackline/base/duration.h"
#include "slackline/base/text.h"

namespace slackline::cli {
namespace {

constexpr std::array kEnding = {SIGINT, SIGTERM, SIGHUP};
constexpr std::string_view kNoWrap = "\x1b[?7l";
constexpr std::string_view kEnd = "\x1b[?7h\n";  // lines are wrapped again
constexpr std::string_view kHome = "\x1b[H";
constexpr std::string_view kEndOfLine = "\x1b[K\n";
constexpr std::string_view kRestOfScreen = "\x1b[J";

void put(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
}

// Overwrites the screen: no flicker, and nothing of the last picture remains.
void redraw(const std::string& heading, const std::string& body) {
  const std::size_t room = terminal_size().lines - 2;
  std::string screen(kHome);
  screen += heading;
  screen += kEndOfLine;
  std::vector<std::string_view> lines;
  for (std::size_t begin = 0; begin < body.size();) {
    const std::size_t end = std::min(body.find('\n', begin), body.size());
    lines.push_back(std::string_view(body).substr(begin, end - begin));
    begin = end + 1;
  }
  const std::size_t shown = lines.size() <= room ? lines.size() : room - 1;
  for (std::size_t i = 0; i < shown; ++i) {
    screen += lines[i];
    screen += kEndOfLine;
  }
  if (shown < lines.size()) screen += format("... {} more lines", lines.size() - shown);
  screen += kRestOfScreen;
  put(screen);
}

void append(const WatchOptions& options, const std::string& heading, const std::string& body,
            bool first) {
  if (options.output == "yaml") put("---\n");
  if (options.output == "csv" && !first) put("\n");
  if (options.output == "table" || options.output == "wide")
    put((first ? "" : "\n") + heading + "\n");
  put(body);
  if (!body.ends_with('\n')) put("\n");
}

volatile std::sig_atomic_t redraws = 0;

// A request may take long: a signal does not wait for its answer.
void end_at_once(int /*signal*/) {
  if (redraws != 0 && ::write(STDOUT_FILENO, kEnd.data(), kEnd.size()) < 0) ::_exit(kFailure);
  ::_exit(0);
}

void end_by(const sigset_t& signals) {
  struct sigaction action{};
  action.sa_handler = end_at_once;
  for (const int signal : kEnding)
    ::sigaction(signal, &action, nullptr);
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

Result<std::string> ask_until(const sigset_t& signals,
                              const std::function<Result<std::string>()>& ask) {
  ::pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
  auto answer = ask();
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return answer;
}

// False: asked to stop.
bool rest(const sigset_t& signals, double seconds) {
  timespec time{};
  time.tv_sec = static_cast<time_t>(seconds);
  time.tv_nsec = static_cast<long>(1e9 * (seconds - static_cast<double>(time.tv_sec)));
  return sigtimedwait(&signals, nullptr, &time) < 0;
}

}  // namespace

int watch(const WatchOptions& options, const std::function<Result<std::string>()>& ask) {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : kEnding)
    sigaddset(&signals, signal);
  end_by(signals);
  const bool terminal = is_terminal();
  bool first = true;
  do {
    const auto answer = ask_until(signals, ask);
    if (!answer && first) return report_failure(answer.error());
    if (terminal && first) {
      redraws = 1;
      put(format("{}\x1b[2J", kNoWrap));
    }
    const std::string now = format_rfc3339(system_clock().wall_s());
    if (terminal)
      redraw(format("{}  every {}  {}", options.title, format_duration(options.interval_s), now),
             answer ? *answer : answer.error().message);
    else if (answer)
      append(options, now, *answer, first);
    else
      report_failure(answer.error());
    std::fflush(stdout);
    first = false;
  } while (rest(signals, options.interval_s));
  if (terminal) put(kEnd);
  return 0;
}

}  // namespace slackline::cli
