// The subcommands of `slackline`: each file adds its own to the command line and runs it. Wiring
// only.
#pragma once

#include <CLI/CLI.hpp>

#include "client/client.h"

namespace slackline::cli {

// Each adds its subcommand(s); the callback stores the exit code (exit_codes.h).
void add_serve(CLI::App& app, int& exit_code);
void add_check(CLI::App& app, int& exit_code);
void add_ask(CLI::App& app,
             int& exit_code);  // cluster nodes tasks queue scores placements models decisions ready
void add_try(CLI::App& app, int& exit_code);
void add_fit(CLI::App& app, int& exit_code);
void add_predict(CLI::App& app, int& exit_code);
void add_simulate(CLI::App& app, int& exit_code);
void add_release(CLI::App& app, int& exit_code);
void add_usage(CLI::App& app, int& exit_code);
void add_completion(CLI::App& app, int& exit_code);  // last: it completes the others

// --server and its credentials.
void add_server_options(CLI::App& command, client::ClientOptions& server);

}  // namespace slackline::cli
