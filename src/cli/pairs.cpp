// `slackline pairs fit`: how well the kinds of prediction know pairs of tasks on one GPU that they
// have not seen.
#include <cstdio>
#include <memory>
#include <string>

#include "cli/commands.h"
#include "cli/numbers.h"
#include "cli/text_files.h"
#include "sim/pair_fit.h"
#include "sim/presets/pair_world.h"
#include "sim/presets/preset.h"

namespace slackline::cli {
namespace {

struct PairsFitCommand {
  std::string file;
  std::string report;
  sim::PairFitOptions options;
};

Status fit_pairs(const PairsFitCommand& command) {
  const auto file = read_part_of_file(command.file);
  if (!file) return fail(sim::in_file(file.error()));
  SLACKLINE_ASSIGN(const PairMeasurements measured,
                   sim::read_pair_file(file->text, file->path, file->part));
  SLACKLINE_ASSIGN(const auto rows, sim::fit_pair_kinds(measured, command.options));
  std::fputs(sim::format_pair_fit_table(rows).c_str(), stdout);
  if (command.report.empty()) return {};
  return write_text_file(command.report, sim::format_pair_fit_json(rows));
}

}  // namespace

void add_pairs(CLI::App& app, int& exit_code) {
  CLI::App* pairs = app.add_subcommand("pairs", "Which tasks slow each other down on one GPU");
  pairs->require_subcommand(1);
  const auto options = std::make_shared<PairsFitCommand>();
  CLI::App* command = pairs->add_subcommand(
      "fit", "Predict measured pairs from a part of them, and measure the error on the others");
  command->footer("Example:\n  slackline pairs fit pairs.json:k80 --known 0.2 --draws 5");
  command
      ->add_option("file", options->file,
                   "FILE[:TYPE]: {\"k80\": {TASK: {\"null\": iterations/s alone, OTHER: "
                   "[iterations/s of TASK, of OTHER]}}}, [0, 0] where the two do not run together")
      ->required();
  command->add_option("--known", options->options.known, "Share of the pairs that are known")
      ->check(in_range(0.001, 0.999))
      ->capture_default_str();
  command->add_option("--draws", options->options.draws, "Draws of the known pairs")
      ->check(in_range(1, 100))
      ->capture_default_str();
  command->add_option("--report", options->report, "Write the errors here (JSON)");
  command->callback([&exit_code, options] {
    const Status done = fit_pairs(*options);
    exit_code = done ? 0 : report_refused_or_unanswered(done.error());
  });
}

}  // namespace slackline::cli
