// `slackline samples from-runs`: what a daemon measured of finished runs, as the samples that
// `slackline fit` reads. Reads a copy of the model database, so that a running daemon is left
// alone.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "cli/commands.h"
#include "cli/text_files.h"
#include "config/configuration.h"
#include "slackline/base/text.h"
#include "store/model_store.h"
#include "wire/samples/samples_csv.h"

namespace slackline::cli {
namespace {

namespace fs = std::filesystem;

struct SamplesCommand {
  std::string store = config::StoreSettings().path;
  std::string models_file;  // empty: next to `store`
  std::string model;
  std::string gpu_type;
  std::string out;
};

// A folder that goes with its object.
class CopyFolder {
 public:
  CopyFolder() {
    std::string name = (fs::temp_directory_path() / "slackline-samples-XXXXXX").string();
    if (::mkdtemp(name.data()) != nullptr) path_ = name;
  }
  ~CopyFolder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  CopyFolder(const CopyFolder&) = delete;
  CopyFolder& operator=(const CopyFolder&) = delete;

  // The copy of a database with what its log has.
  Result<std::string> copy_of(const std::string& database, const std::string& store) const {
    std::string copy = path_ + "/models.db";
    std::error_code wrong;
    for (const char* suffix : {"", "-wal"}) {
      if (!fs::exists(database + suffix, wrong) && *suffix != '\0') continue;
      fs::copy_file(database + suffix, copy + suffix, wrong);
      if (wrong || path_.empty())
        return fail(ErrorCode::kUnavailable,
                    format("{}, the models of --store {}, cannot be read: {}; --store names the "
                           "daemon's database",
                           database, store, wrong.message()));
    }
    return copy;
  }

 private:
  std::string path_;
};

Status print_samples(const SamplesCommand& command) {
  config::StoreSettings settings;
  settings.path = command.store;
  settings.models_path = command.models_file;
  const CopyFolder folder;
  SLACKLINE_ASSIGN(const std::string copy, folder.copy_of(settings.models_file(), command.store));
  SLACKLINE_ASSIGN(store::ModelStore store, store::ModelStore::open(copy));
  if (!store.closed().empty()) return fail(ErrorCode::kUnavailable, store.closed());
  SLACKLINE_ASSIGN(const auto pairs, store.pairs());
  std::vector<ThroughputSample> samples;
  for (const auto& [key, count] : pairs) {
    if (!command.model.empty() && key.model != command.model) continue;
    if (!command.gpu_type.empty() && key.gpu_type.str() != command.gpu_type) continue;
    SLACKLINE_ASSIGN(const auto of_pair, store.samples(key));
    std::copy_if(
        of_pair.begin(), of_pair.end(), std::back_inserter(samples),
        [](const ThroughputSample& sample) { return sample.origin == SampleOrigin::kRun; });
  }
  for (const Error& row : store.take_unreadable())
    std::fprintf(stderr, "slackline: left out, as it cannot be read: %s\n", row.message.c_str());
  if (samples.empty())
    return fail(ErrorCode::kNotFound,
                format("{} holds no sample of a finished run; a Job becomes one if it names model, "
                       "batch-size and iterations, and succeeds",
                       settings.models_file()));
  const std::string csv = wire::write_samples_csv(samples);
  if (!command.out.empty()) return write_text_file(command.out, csv);
  std::fputs(csv.c_str(), stdout);
  return {};
}

}  // namespace

void add_samples(CLI::App& app, int& exit_code) {
  CLI::App* samples = app.add_subcommand("samples", "Measured speeds, as fit reads them");
  samples->require_subcommand(1);
  const auto options = std::make_shared<SamplesCommand>();
  CLI::App* command = samples->add_subcommand(
      "from-runs", "The speeds of finished runs that a daemon has learnt, as CSV");
  command->footer(
      "Example:\n  slackline samples from-runs --store slackline.db > runs.csv\n"
      "  slackline fit runs.csv --report report.json");
  command->add_option("--store", options->store, "The daemon's database, as serve --store names it")
      ->capture_default_str();
  command->add_option("--models", options->models_file, "Its model database [next to --store]")
      ->check(CLI::ExistingFile);
  command->add_option("--model", options->model, "Only this model");
  command->add_option("--gpu-type", options->gpu_type, "Only this GPU type");
  command->add_option("--out", options->out, "Write to this file [standard output]");
  command->callback([&exit_code, options] {
    const Status done = print_samples(*options);
    exit_code = done ? 0 : report_unanswered(done.error());
  });
}

}  // namespace slackline::cli
