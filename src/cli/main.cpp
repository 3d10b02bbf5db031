#include <algorithm>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "cli/commands.h"
#include "cli/version.h"
#include "slackline/base/spelling.h"
#include "slackline/base/text.h"

namespace {

// "": the first word is a command, or a flag.
std::string wrong_command(const CLI::App& app, std::string_view word) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(command->get_name());
  if (word.starts_with('-') || std::find(names.begin(), names.end(), word) != names.end())
    return "";
  const std::vector<std::string_view> words(names.begin(), names.end());
  const auto meant = slackline::nearest_spelling(word, words);
  return slackline::format("slackline: unknown command \"{}\"{}; `slackline --help` lists them\n",
                           slackline::printable(word, 64),
                           meant ? slackline::format(", did you mean {}?", *meant) : "");
}

}  // namespace

int main(int argc, char** argv) {
  using namespace slackline::cli;
  CLI::App app{"Slackline: deadline-aware GPU scheduling for the stock kube-scheduler"};
  app.require_subcommand(1);
  app.set_version_flag("--version", std::string("slackline ") + kVersion);
  int exit_code = 0;
  try {
    add_serve(app, exit_code);
    add_check(app, exit_code);
    add_ask(app, exit_code);
    add_try(app, exit_code);
    add_fit(app, exit_code);
    add_predict(app, exit_code);
    add_simulate(app, exit_code);
    add_release(app, exit_code);
    app.add_subcommand("version", "Print the version")->callback([] {
      std::printf("slackline %s\n", kVersion);
    });
    if (argc < 2) {
      std::fputs(app.help().c_str(), stderr);
      return kWrongUsage;
    }
    if (const std::string problem = wrong_command(app, argv[1]); !problem.empty()) {
      std::fputs(problem.c_str(), stderr);
      return kWrongUsage;
    }
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kWrongUsage;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "slackline: %s\n", error.what());
    return kFailure;
  }
  return exit_code;
}
