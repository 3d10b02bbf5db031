// The subcommands of `slackline`: each file adds its own to the command line and runs it. Wiring
// only.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "client/client.h"
#include "message/telemetry_settings.h"
#include "slackline/base/result.h"

namespace slackline::cli {

// Each adds its subcommand(s); the callback stores the exit code (exit_codes.h).
void add_serve(CLI::App& app, int& exit_code);
void add_check(CLI::App& app, int& exit_code);
void add_ask(CLI::App& app,
             int& exit_code);  // cluster nodes tasks queue scores placements models decisions
                               // ready, and more
void add_try(CLI::App& app, int& exit_code);
void add_answers(CLI::App& app, int& exit_code);  // why eta quote whatif calendar
void add_fit(CLI::App& app, int& exit_code);
void add_predict(CLI::App& app, int& exit_code);
void add_pairs(CLI::App& app, int& exit_code);
void add_samples(CLI::App& app, int& exit_code);
void add_simulate(CLI::App& app, int& exit_code);
void add_train(CLI::App& app, int& exit_code);
void add_backtest(CLI::App& app, int& exit_code);
void add_rightsize(CLI::App& app, int& exit_code);
void add_replay(CLI::App& app, int& exit_code);
// Instead of add_simulate() where the command line has --preset.
void add_simulate_preset(CLI::App& app, int& exit_code, const std::string& name);
std::string preset_help();
void add_release(CLI::App& app, int& exit_code);
void add_bundle(CLI::App& app, int& exit_code);
void add_usage(CLI::App& app, int& exit_code);
void add_page(CLI::App& app, int& exit_code);
// These two last: they tell of the others.
void add_man(CLI::App& app, int& exit_code);
void add_completion(CLI::App& app, int& exit_code);
void add_plugin_completion(CLI::App& app, int& exit_code);  // of `kubectl slackline`
// What kubectl asks of kubectl_complete-slackline: the choices for the last word. The exit code.
inline constexpr const char* kCompleteWord =
    "__complete";  // `kubectl slackline __complete WORD...`
int complete_for_kubectl(const CLI::App& app, const std::vector<std::string>& words);

// --server and its credentials.
void add_server_options(CLI::App& command, client::ClientOptions& server);
// The same and, called as a plug-in of kubectl, its flags. `ns` is the command's --namespace, where
// it has one. Both must live as long as `command`.
void add_daemon_options(CLI::App& command, client::ClientOptions& server, std::string& ns);
// --prometheus and its credentials; `prometheus` must live as long as `command`.
void add_prometheus_options(CLI::App& command, PrometheusSettings& prometheus);
// The value of a flag; kInvalidArgument says what to write.
Result<double> duration_of(const char* flag, const std::string& text, double least, double most);
// What read_manifest_file() of text_files.h reads.
void add_manifest(CLI::App& command, const std::string& name, std::string& path);
inline constexpr double kForecastPatience_s = 60;  // a long queue is played for many seconds
// Hidden flags that say what to do instead, after the command's own.
void refuse_other_flags_of_kubectl(CLI::App& command);

}  // namespace slackline::cli
