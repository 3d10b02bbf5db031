#include "client/program.h"

namespace slackline::client {
namespace {

constexpr std::string_view kCommand = "slackline";

// Whether a command line begins at `at`.
bool begins_command(std::string_view text, std::size_t at) {
  if (text.substr(0, at).ends_with("<(") || (at > 0 && text[at - 1] == '`')) return true;
  const std::size_t before = text.substr(0, at).find_last_not_of(' ');
  return before == std::string_view::npos || text[before] == '\n';
}

}  // namespace

CalledAs called_as(std::string_view argv0) {
  const std::string_view name = argv0.substr(argv0.rfind('/') + 1);
  if (name == "kubectl-slackline") return CalledAs::kPlugin;
  return name == "kubectl_complete-slackline" ? CalledAs::kCompletion : CalledAs::kSlackline;
}

std::string_view program_name(CalledAs as) {
  return as == CalledAs::kSlackline ? "slackline" : "kubectl slackline";
}

std::string in_the_words_of(CalledAs as, std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t found = text.find(kCommand, at);
    if (found == std::string_view::npos) {
      out += text.substr(at);
      break;
    }
    const std::size_t end = found + kCommand.size();
    const bool whole = end == text.size() || text[end] == ' ' || text[end] == '`';
    out += text.substr(at, found - at);
    out += whole && begins_command(text, found) ? program_name(as) : kCommand;
    at = end;
  }
  return out;
}

}  // namespace slackline::client
