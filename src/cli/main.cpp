#include <cstdio>
#include <exception>

#include "cli/commands.h"
#include "cli/version.h"

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
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "slackline: %s\n", error.what());
    return kFailure;
  }
  return exit_code;
}
