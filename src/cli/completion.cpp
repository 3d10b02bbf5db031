// `slackline completion`: scripts that complete commands and flags in a shell.
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "slackline/base/text.h"

namespace slackline::cli {
namespace {

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

// "--server", "-s", ...
std::vector<std::string> flags_of(const CLI::App& command) {
  std::vector<std::string> flags;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames())
      flags.push_back("--" + name);
    for (const std::string& name : option->get_snames())
      flags.push_back("-" + name);
  }
  return flags;
}

std::string names_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : commands_of(app))
    names.push_back(command->get_name());
  return join(names, " ");
}

// Files are completed unless a flag is being typed.
std::string bash(const CLI::App& app) {
  std::string out =
      "_slackline() {\n"
      "  local word=${COMP_WORDS[COMP_CWORD]} flags=\n"
      "  if [ \"$COMP_CWORD\" = 1 ]; then\n";
  out +=
      format("    COMPREPLY=($(compgen -W '{}' -- \"$word\"))\n    return\n  fi\n", names_of(app));
  out += "  case ${COMP_WORDS[1]} in\n";
  for (const CLI::App* command : commands_of(app))
    out += format("    {}) flags='{}' ;;\n", command->get_name(), join(flags_of(*command), " "));
  out +=
      "  esac\n"
      "  COMPREPLY=()\n"
      "  case $word in -*) COMPREPLY=($(compgen -W \"$flags\" -- \"$word\")) ;; esac\n"
      "}\n"
      "complete -o default -F _slackline slackline\n";
  return out;
}

std::string zsh(const CLI::App& app) {
  return "autoload -U +X bashcompinit && bashcompinit\n" + bash(app);
}

// Single quotes in fish's syntax.
std::string quoted(std::string text) {
  for (std::size_t at = 0; (at = text.find_first_of("'\\", at)) != std::string::npos; at += 2)
    text.insert(at, "\\");
  return "'" + text + "'";
}

std::string fish(const CLI::App& app) {
  std::string out;
  for (const CLI::App* command : commands_of(app)) {
    const std::string name = command->get_name();
    out += format("complete -c slackline -n __fish_use_subcommand -f -a {} -d {}\n", name,
                  quoted(command->get_description()));
    for (const CLI::Option* option : command->get_options())
      for (const std::string& flag : option->get_lnames())
        out += format("complete -c slackline -n '__fish_seen_subcommand_from {}' -l {} -d {}\n",
                      name, flag, quoted(option->get_description()));
  }
  return out;
}

}  // namespace

void add_completion(CLI::App& app, int& exit_code) {
  const auto shell = std::make_shared<std::string>();
  CLI::App* command =
      app.add_subcommand("completion", "Print a script that completes commands and flags");
  command->add_option("shell", *shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command->footer("Example:\n  source <(slackline completion bash)");
  command->callback([&app, &exit_code, shell] {
    const std::string script = *shell == "bash"  ? bash(app)
                               : *shell == "zsh" ? zsh(app)
                                                 : fish(app);
    std::fputs(script.c_str(), stdout);
    exit_code = 0;
  });
}

}  // namespace slackline::cli
