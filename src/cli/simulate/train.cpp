// `slackline train`: the network of the policy `learned`, trained once on worlds of the preset
// paper001, as a file for `slackline simulate --network`.
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>

#include <unistd.h>

#include "cli/commands.h"
#include "cli/numbers.h"
#include "cli/text_files.h"
#include "sim/presets/network_file.h"
#include "sim/presets/preset.h"
#include "slackline/base/text.h"

namespace slackline::cli {
namespace {

constexpr int kMostLearnt = 20000;  // ten seconds

struct TrainCommand {
  std::string preset = "paper001";
  std::string worlds = "0";
  std::string out;
  std::optional<std::uint64_t> seed;
  sim::NetTraining training;
};

void show_step(std::string_view step) {
  std::fprintf(stderr, "\r\033[K%.*s", static_cast<int>(step.size()), step.data());
}

Status train(TrainCommand command) {
  sim::NetTraining& training = command.training;
  SLACKLINE_ASSIGN(training.worlds, sim::parse_seeds(command.worlds));
  training.seed = command.seed.value_or(training.worlds.front());
  if (training.decisions_of_a_world() == 0)
    return fail(ErrorCode::kInvalidArgument,
                format("{} decisions are less than one of each of {} worlds", training.decisions,
                       training.worlds.size()));
  training.decisions = training.decisions_of_a_world() * static_cast<int>(training.worlds.size());
  const bool watched = ::isatty(STDERR_FILENO) != 0;
  const sim::TrainedNet trained =
      sim::train_network(training, watched ? show_step : sim::TrainingStep{});
  if (watched) std::fputs("\r\033[K", stderr);
  SLACKLINE_TRY(write_text_file(command.out, sim::write_network(trained)));
  std::printf(
      "Trained on %s. Mean |ln(observed / predicted)| of new tasks of the same worlds: %.3f "
      "by nominal times, %.3f by the network\n",
      sim::describe(training).c_str(), trained.error.before, trained.error.after);
  return {};
}

}  // namespace

void add_train(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<TrainCommand>();
  CLI::App* command = app.add_subcommand(
      "train", "Train the network of `simulate --preset paper001 --compare learned` once");
  command->add_option("--preset", options->preset, "The experiment whose worlds it learns from")
      ->check(CLI::IsMember({options->preset}))
      ->capture_default_str();
  command->add_option("--worlds", options->worlds, "FROM-TO")->capture_default_str();
  command->add_option("--rate", options->training.per_minute, "Tasks a minute")
      ->check(in_range(0.1, 1000))
      ->capture_default_str();
  command->add_flag("--clean", options->training.clean,
                    "Predictions are right, and nobody slows anybody");
  command
      ->add_option("--decisions", options->training.decisions,
                   "Tasks to learn from, of all worlds together")
      ->check(CLI::Range(1, kMostLearnt))
      ->capture_default_str();
  command->add_option("--seed", options->seed, "Of the weights at first; else the first world")
      ->check(CLI::Range(0, 1'000'000'000));
  command->add_option("--out", options->out, "Write the network here (JSON)")->required();
  command->callback([&exit_code, options] {
    const Status done = train(*options);
    exit_code = done ? 0 : report_refusal(done.error());
  });
}

}  // namespace slackline::cli
