// `slackline bundle`: a dump of a cluster that may be shown to others.
#include <algorithm>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>

#include "cli/commands.h"
#include "cli/text_files.h"
#include "config/load.h"
#include "control/learn/profiles.h"
#include "slackline/core/portrait/family.h"
#include "slackline/core/throughput/predictor.h"
#include "wire/format/yaml.h"
#include "wire/kube/redact.h"

namespace slackline::cli {
namespace {

struct BundleCommand {
  std::string file;
  std::string configuration;
  std::string out = "-";
};

Result<GpuCatalog> catalog_of(const BundleCommand& command) {
  if (command.configuration.empty()) return default_gpu_catalog();
  SLACKLINE_ASSIGN(config::Configuration read, config::load_configuration(command.configuration));
  return std::move(read.gpus);
}

// Those whose letters a built-in profile has: what is predicted depends on them.
Result<std::function<bool(std::string_view)>> public_models() {
  SLACKLINE_ASSIGN(WorkloadProfiles known, control::load_profiles({}));
  return [known = std::move(known)](std::string_view model) {
    const std::string_view family = core::family_of(model);
    return std::any_of(known.entries().begin(), known.entries().end(), [&](const auto& entry) {
      return entry.model == model || (!family.empty() && core::family_of(entry.model) == family);
    });
  };
}

Status bundle(const BundleCommand& command) {
  SLACKLINE_ASSIGN(const GpuCatalog catalog, catalog_of(command));
  SLACKLINE_ASSIGN(const auto is_public_model, public_models());
  SLACKLINE_ASSIGN(const std::string text, read_dump_file(command.file));
  SLACKLINE_ASSIGN(const std::string json, wire::yaml_to_json(text));
  const wire::RedactionRules rules{
      .catalog = catalog, .is_public_model = is_public_model, .stem = [](std::string_view name) {
        return core::owner_stem(name);
      }};
  SLACKLINE_ASSIGN(const wire::RedactedDump dump, wire::redact_dump(json, rules));
  SLACKLINE_TRY(write_text_file(command.out, dump.json + "\n"));
  std::fprintf(stderr,
               "%zu objects; %zu names, or parts of names, are replaced by codes; %zu objects of "
               "other kinds are left out. Numbers, times, and names of GPUs and of well-known "
               "models are as they were: look at it before you send it.\n",
               dump.objects, dump.replaced, dump.left_out);
  return {};
}

}  // namespace

void add_bundle(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<BundleCommand>();
  CLI::App* command = app.add_subcommand(
      "bundle",
      "A dump of a cluster without names, to show to others: it replays to the same queue");
  command->footer(
      "Example:\n"
      "  kubectl get "
      "nodes,pods,jobs,poddisruptionbudgets,resourcequotas,limitranges,namespaces,\\\n"
      "priorityclasses,runtimeclasses,deviceclasses,persistentvolumeclaims,persistentvolumes \\\n"
      "-A -o json | slackline bundle - -o bundle.json\n"
      "  slackline serve --cluster file:bundle.json");
  command->add_option("file", options->file, "The dump (JSON or YAML); -: standard input")
      ->type_name("FILE")
      ->required();
  command->add_option("-o,--out", options->out, "Write it here [standard output]")
      ->type_name("FILE");
  command
      ->add_option("--config", options->configuration,
                   "The daemon's configuration: its GPU labels and resources are kept")
      ->type_name("FILE");
  command->callback([options, &exit_code] {
    if (const Status done = bundle(*options); !done) exit_code = report_refusal(done.error());
  });
}

}  // namespace slackline::cli
