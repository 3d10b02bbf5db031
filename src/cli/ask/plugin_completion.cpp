// Completion of `kubectl slackline`: kubectl calls kubectl_complete-slackline with the words so
// far. A choice a line, with a tab and what it is; the last line says whether files are choices
// too.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "cli/commands.h"
#include "client/client.h"
#include "slackline/base/text.h"
#include "wire/format/json_view.h"

namespace slackline::cli {
namespace {

constexpr int kAlsoFiles = 0;  // cobra's directives
constexpr int kNoFiles = 4;
constexpr double kSoon_s = 2;
constexpr std::size_t kMostNames = 500;

struct Choices {
  std::vector<std::string> lines;
  int directive = kNoFiles;

  // As bash, zsh and fish: only what begins so.
  void add(std::string_view begin, const std::string& choice, const std::string& about = "") {
    if (!choice.starts_with(begin)) return;
    lines.push_back(about.empty() ? choice : choice + "\t" + about);
  }
};

// "--output" of "table,wide,json" in the help of a flag; empty: anything may be written.
std::string_view values_of(std::string_view type) {
  const std::size_t begin = type.find('{');
  const std::size_t end = type.find('}');
  if (begin == std::string_view::npos || end == std::string_view::npos || end < begin) return {};
  return type.substr(begin + 1, end - begin - 1);
}

void add_values(const CLI::Option& flag, std::string_view begin, Choices& choices) {
  const std::string type = flag.get_type_name();
  std::string_view values = values_of(type);
  while (!values.empty()) {
    const std::size_t comma = std::min(values.find(','), values.size());
    choices.add(begin, std::string(values.substr(0, comma)));
    values.remove_prefix(std::min(comma + 1, values.size()));
  }
  const std::string name = flag.get_name();
  if (name.ends_with("-file") || name == "--kubeconfig" ||
      name.find("--filename") != std::string::npos)
    choices.directive = kAlsoFiles;
}

void add_flags(const CLI::App& command, std::string_view begin, Choices& choices) {
  for (const CLI::Option* option : command.get_options())
    for (const std::string& name : option->get_lnames())
      if (!option->get_group().empty()) choices.add(begin, "--" + name, option->get_description());
}

// The daemon is asked as the command would ask it, with the flags that are there already.
Result<std::vector<std::string>> names_in(const std::string& list, std::vector<std::string> flags,
                                          std::string_view begin) {
  client::ClientOptions server;
  server.timeout_s = kSoon_s;
  server.in_a_hurry = true;
  std::string ns;
  CLI::App probe;
  probe.add_option("-n,--namespace", ns);
  add_daemon_options(probe, server, ns);
  probe.allow_extras();
  probe.parse(std::vector<std::string>(flags.rbegin(), flags.rend()));
  const bool all = begin.find('/') != std::string_view::npos;
  const std::string within = all || ns.empty() ? "" : "&namespace=" + client::encode_query(ns);
  client::Client client(server);
  SLACKLINE_ASSIGN(const std::string answer,
                   client.get(format("/v1/{}?output=json&limit={}{}", list, kMostNames, within),
                              "application/json"));
  wire::JsonDocument document;
  SLACKLINE_ASSIGN(const wire::JsonView root, document.parse(answer));
  std::vector<std::string> names;
  for (const wire::JsonView row : root["items"].items()) {
    const std::string name(row["name"].text());
    names.push_back(within.empty() ? format("{}/{}", row["namespace"].text(), name) : name);
  }
  return names;
}

// Of a command that is about one task: those that it can be about.
std::string list_for(std::string_view command) {
  if (command == "why" || command == "eta" || command == "queue") return "queue";
  return command == "tasks" || command == "placements" || command == "advice" ? "tasks" : "";
}

Choices choices_for(const CLI::App& app, const std::vector<std::string>& words) {
  Choices choices;
  const std::string last = words.empty() ? "" : words.back();
  if (words.size() <= 1) {
    for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
      choices.add(last, command->get_name(), command->get_description());
    return choices;
  }
  const CLI::App* command = app.get_subcommand(words.front());  // throws where there is none
  const std::string& before = words[words.size() - 2];
  const CLI::Option* flag =
      before.starts_with('-') ? command->get_option_no_throw(before) : nullptr;
  if (flag != nullptr && flag->get_expected_max() > 0) {
    add_values(*flag, last, choices);
  } else if (last.starts_with('-')) {
    add_flags(*command, last, choices);
  } else if (words.front() == "try") {
    choices.directive = kAlsoFiles;
  } else if (const std::string list = list_for(words.front()); !list.empty()) {
    const auto names = names_in(list, {words.begin() + 1, words.end() - 1}, last);
    if (!names) return choices;
    for (const std::string& name : *names)
      choices.add(last, name);
  }
  return choices;
}

}  // namespace

int complete_for_kubectl(const CLI::App& app, const std::vector<std::string>& words) {
  Choices choices;
  try {
    choices = choices_for(app, words);
  } catch (const std::exception&) {
    choices = Choices();  // a flag is half written, or there is no kubeconfig
  }
  for (const std::string& line : choices.lines)
    std::printf("%s\n", line.c_str());
  std::printf(":%d\n", choices.directive);
  return 0;
}

void add_plugin_completion(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand(
      "completion",
      "Print the script kubectl_complete-slackline, by which kubectl's own completion knows the "
      "words of this plug-in");
  command->footer(
      "Example:\n  kubectl slackline completion > ~/.local/bin/kubectl_complete-slackline\n"
      "  chmod +x ~/.local/bin/kubectl_complete-slackline");
  command->callback([&exit_code] {
    std::printf("#!/bin/sh\nexec kubectl slackline %s \"$@\"\n", kCompleteWord);
    exit_code = 0;
  });
}

}  // namespace slackline::cli
