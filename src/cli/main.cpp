#include <algorithm>
#include <cstdio>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/called.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/version.h"
#include "slackline/base/spelling.h"
#include "slackline/base/text.h"

namespace {

using namespace slackline::cli;
using slackline::client::CalledAs;

// "": the first word is a command, or a flag.
std::string wrong_command(const CLI::App& app, std::string_view word) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(command->get_name());
  if (word.starts_with('-') || std::find(names.begin(), names.end(), word) != names.end())
    return "";
  const std::vector<std::string_view> words(names.begin(), names.end());
  const auto meant = slackline::nearest_spelling(word, words);
  const std::string program = slackline::cli::program();
  return slackline::format("{}: unknown command \"{}\"{}; `{} --help` lists them\n", program,
                           slackline::printable(word, 64),
                           meant ? slackline::format(", did you mean {}?", *meant) : "", program);
}

// NAME of `slackline simulate --preset NAME`, whose options are others than those of `simulate`.
std::optional<std::string> preset_named(int argc, char** argv) {
  constexpr std::string_view kFlag = "--preset";
  if (argc < 3 || std::string_view(argv[1]) != "simulate") return std::nullopt;
  for (int i = 2; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == kFlag) return i + 1 < argc ? argv[i + 1] : "";
    if (word.starts_with(kFlag) && word[kFlag.size()] == '=')
      return std::string(word.substr(kFlag.size() + 1));
  }
  return std::nullopt;
}

struct Help {
  const char* command;
  const char* group;
  const char* examples;
};

constexpr const char* kAsk = "Ask a running daemon";
constexpr const char* kSpeed = "How fast models train";
constexpr const char* kRun = "Run the daemon";
constexpr const char* kOther = "More";

constexpr Help kHelp[] = {
    {"queue", kAsk, "slackline queue --watch\n  slackline queue team-a/my-job -o json"},
    {"tasks", kAsk, "slackline tasks -n team-a\n  slackline tasks team-a/my-job"},
    {"nodes", kAsk, "slackline nodes -o csv"},
    {"cluster", kAsk, "slackline cluster"},
    {"try", kAsk, "slackline try my-job.yaml -n team-a"},
    {"why", kAsk, "slackline why team-a/my-job\n  slackline why my-job -n team-a --node gpu-7"},
    {"eta", kAsk, "slackline eta team-a/my-job -o json"},
    {"quote", kAsk, "slackline quote -f my-job.yaml -n team-a --deadline 24h"},
    {"whatif", kAsk,
     "slackline whatif --drain gpu-7\n  slackline whatif --add 4xA100x8\n"
     "  slackline whatif --policy savable-p"},
    {"calendar", kAsk, "slackline calendar --type A100\n  slackline calendar -o ics > gpus.ics"},
    {"placements", kAsk, "slackline placements team-a/my-job"},
    {"advice", kAsk, "slackline advice team-a/my-job"},
    {"scores", kAsk, "slackline scores team-a/my-pod"},
    {"decisions", kAsk, "slackline decisions --verb plan --limit 20"},
    {"history", kAsk, "slackline history --since 24h -n team-a"},
    {"portraits", kAsk,
     "slackline portraits -n team-a\n  slackline portraits team-a/nightly -o json"},
    {"page", kAsk,
     "slackline page\n  slackline page --server https://slackline.example:8183 --ca-file ca.pem"},
    {"report", kAsk, "slackline report --by family --since 7d"},
    {"shadow-report", kAsk, "slackline shadow-report --since 7d\n  slackline shadow-report -o csv"},
    {"shares", kAsk, "slackline shares\n  slackline shares -o csv"},
    {"ready", kAsk, "slackline ready && echo synced"},
    {"models", kSpeed, "slackline models resnet50"},
    {"calibrate", kSpeed, "slackline calibrate resnet50 --dry-run\n  slackline calibrate resnet50"},
    {"fit", kSpeed, nullptr},
    {"predict", kSpeed, nullptr},
    {"pairs", kSpeed, "slackline pairs fit pairs.json:k80 --known 0.2 --draws 5"},
    {"samples", kSpeed, "slackline samples from-runs --store slackline.db > runs.csv"},
    {"simulate", kSpeed, nullptr},
    {"train", kSpeed,
     "slackline train --worlds 3 --rate 48 --out network.json\n"
     "  slackline simulate --preset paper001 --worlds 3 --rate 30 --compare table,learned "
     "--network network.json"},
    {"replay", kOther,
     "slackline replay --prometheus http://prometheus.monitoring:9090 --since 30d\n"
     "  slackline replay --prometheus http://localhost:9090 --since 7d --deadlines 1.5,3 "
     "--compare fifo/skip,savable,default --out jobs.csv"},
    {"serve", kRun,
     "slackline serve --cluster file:dump.yaml\n  slackline serve --config slackline.yaml"},
    {"check", kRun, "slackline check --config slackline.yaml --scheduler scheduler.yaml"},
    {"release", kRun, "slackline release --dry-run"},
    {"usage", kOther,
     "slackline usage --prometheus http://prometheus.monitoring:9090\n"
     "  slackline usage --prometheus http://localhost:9090 --since 1h team-a/my-job -o json"},
    {"man", kOther, nullptr},
    {"completion", kOther, nullptr},
    {"version", kOther, nullptr},
};

void sort_into_groups(CLI::App& app) {
  for (CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    for (const Help& help : kHelp) {
      if (command->get_name() != help.command) continue;
      command->group(help.group);
      if (help.examples != nullptr)
        command->footer(slackline::client::in_the_words_of(
            called_as, slackline::format("Examples:\n  {}", help.examples)));
    }
  app.footer(slackline::client::in_the_words_of(
      called_as,
      "`slackline COMMAND --help` shows the flags of a command, with examples.\n\n"
      "Exit codes: 0 yes; 1 no (blocked or late, findings); 2 wrong usage; 3 it failed; 4 too "
      "little data."));
}

// All that asks a daemon.
void add_questions(CLI::App& app, int& exit_code) {
  add_ask(app, exit_code);
  add_try(app, exit_code);
  add_answers(app, exit_code);
  add_page(app, exit_code);
}

void add_version(CLI::App& app) {
  app.set_version_flag("--version", program() + " " + kVersion);
  app.add_subcommand("version", "Print the version")->callback([] {
    std::printf("%s %s\n", program().c_str(), kVersion);
  });
}

void add_commands_of_plugin(CLI::App& app, int& exit_code) {
  add_questions(app, exit_code);
  for (CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    refuse_other_flags_of_kubectl(*command);
  add_version(app);
  add_plugin_completion(app, exit_code);
}

void add_all_commands(CLI::App& app, int& exit_code, const std::optional<std::string>& preset) {
  add_questions(app, exit_code);
  add_fit(app, exit_code);
  add_predict(app, exit_code);
  add_pairs(app, exit_code);
  add_samples(app, exit_code);
  if (preset)
    add_simulate_preset(app, exit_code, *preset);
  else
    add_simulate(app, exit_code);
  add_train(app, exit_code);
  add_backtest(app, exit_code);
  add_rightsize(app, exit_code);
  add_replay(app, exit_code);
  add_serve(app, exit_code);
  add_check(app, exit_code);
  add_release(app, exit_code);
  add_bundle(app, exit_code);
  add_usage(app, exit_code);
  add_version(app);
  add_man(app, exit_code);
  add_completion(app, exit_code);
}

// The words after the program's name; `help COMMAND` is `COMMAND --help`.
std::vector<std::string> words_of(int argc, char** argv) {
  std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  if (words.empty() || words.front() != "help") return words;
  words.erase(words.begin());
  words.emplace_back("--help");
  return words;
}

int run(CLI::App& app, std::vector<std::string> words, const int& exit_code) {
  if (called_as == CalledAs::kCompletion) return complete_for_kubectl(app, words);
  if (is_plugin() && !words.empty() && words.front() == kCompleteWord)
    return complete_for_kubectl(app, {words.begin() + 1, words.end()});
  if (words.empty()) {
    std::fputs(app.help().c_str(), stderr);
    return kWrongUsage;
  }
  if (const std::string problem = wrong_command(app, words.front()); !problem.empty()) {
    std::fputs(problem.c_str(), stderr);
    return kWrongUsage;
  }
  std::reverse(words.begin(), words.end());  // as CLI11 wants them
  app.parse(std::move(words));
  return exit_code;
}

}  // namespace

int main(int argc, char** argv) {
  called_as = slackline::client::called_as(argc > 0 ? argv[0] : "");
  CLI::App app{"Slackline: deadline-aware GPU scheduling for the stock kube-scheduler", program()};
  app.require_subcommand(1);
  int exit_code = 0;
  try {
    if (is_plugin())
      add_commands_of_plugin(app, exit_code);
    else
      add_all_commands(app, exit_code, preset_named(argc, argv));
    sort_into_groups(app);
    exit_code = run(app, words_of(argc, argv), exit_code);
  } catch (const CLI::ParseError& error) {
    exit_code = app.exit(error) == 0 ? 0 : kWrongUsage;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", program().c_str(), error.what());
    return kFailure;
  }
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    std::fprintf(stderr, "%s: the output could not be written\n", program().c_str());
    return kFailure;
  }
  return exit_code;
}
