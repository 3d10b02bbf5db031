// `slackline simulate --preset NAME`: an experiment with a world, policies and figures of its own.
#include "sim/presets/preset.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/text_files.h"
#include "config/load.h"
#include "slackline/base/text.h"

namespace slackline::cli {
namespace {

struct PresetCommand {
  std::string preset;
  std::string seeds;
  std::string compare;
  std::string report;
  std::map<std::string, std::string> values;
  std::map<std::string, bool> flags;
};

// $SLACKLINE_SHARED is where measurements of others are: ../shared, if it is not set. A shell may
// have replaced it already.
std::string measurements_path(const std::string& path) {
  constexpr std::string_view kShared = "$SLACKLINE_SHARED";
  if (!path.starts_with(kShared)) return path;
  const char* shared = std::getenv("SLACKLINE_SHARED");
  return (shared != nullptr ? shared : "../shared") + path.substr(kShared.size());
}

// In order of their paths; none where there is no such folder. The error: a folder that cannot be
// read, so that files of it would be left out.
Result<std::vector<sim::PresetFile>> read_csv_below(const std::string& folder,
                                                    std::string_view prefix) {
  std::error_code error;
  if (std::filesystem::status(folder, error).type() == std::filesystem::file_type::not_found)
    return std::vector<sim::PresetFile>{};
  std::vector<std::string> paths;
  for (std::filesystem::recursive_directory_iterator i(folder, error), end; !error && i != end;
       i.increment(error)) {
    const std::filesystem::path& path = i->path();
    if (path.extension() == ".csv" && path.filename().string().starts_with(prefix))
      paths.push_back(path.string());
  }
  if (error)
    return fail(ErrorCode::kUnavailable, format("{} cannot be read: {}", folder, error.message()));
  std::sort(paths.begin(), paths.end());
  std::vector<sim::PresetFile> files;
  for (const std::string& path : paths) {
    auto text = config::read_text_file(path);
    if (!text) return fail(sim::in_file(text.error()));
    files.push_back({path, "", *std::move(text)});
  }
  return files;
}

Result<sim::PresetFile> read_file(const sim::PresetOption& option, const std::string& argument) {
  const auto file = read_part_of_file(argument);
  if (!file) return fail(sim::in_file(file.error()));
  if (!file->part.empty() && option.choices.empty())
    return fail(ErrorCode::kInvalidArgument,
                format("--{} {}: takes a whole file, without \":{}\"", option.name,
                       printable(argument), printable(file->part, 64)));
  return sim::PresetFile{file->path, file->part, file->text};
}

// Whether the other options say that the folder counts.
bool is_read(const sim::PresetOption& folder, const PresetCommand& command) {
  if (folder.read_for.empty()) return true;
  const auto parts = split(folder.read_for, '=');
  return command.values.at(std::string(parts.front())) == parts.back();
}

Result<sim::PresetRequest> request_of(const sim::Preset& preset, const PresetCommand& command) {
  sim::PresetRequest request;
  SLACKLINE_ASSIGN(request.seeds, sim::parse_seeds(command.seeds));
  SLACKLINE_ASSIGN(request.policies, sim::parse_preset_policies(preset, command.compare));
  for (const sim::PresetOption& option : preset.options) {
    const std::string name(option.name);
    if (option.kind == sim::PresetKind::kFlag) {
      request.values[name] = command.flags.at(name) ? "yes" : "";
      continue;
    }
    const std::string& value = command.values.at(name);
    request.values[name] = value;
    if (option.kind == sim::PresetKind::kFolder) {
      request.values[name] = measurements_path(value);
      request.folders[name] = {};
      if (is_read(option, command)) {
        SLACKLINE_ASSIGN(request.folders[name],
                         read_csv_below(request.values[name], option.choices));
      }
    }
    const bool is_file =
        option.kind == sim::PresetKind::kFile || option.kind == sim::PresetKind::kOptionalFile;
    if (!is_file || value.empty()) continue;
    SLACKLINE_ASSIGN(request.files[name], read_file(option, measurements_path(value)));
  }
  return request;
}

Status run_preset(const sim::Preset& preset, const PresetCommand& command) {
  SLACKLINE_ASSIGN(const sim::PresetRequest request, request_of(preset, command));
  SLACKLINE_ASSIGN(const sim::PresetReport report, preset.run(request));
  std::fputs(sim::format_preset_table(report).c_str(), stdout);
  if (command.report.empty()) return {};
  return write_text_file(command.report, sim::format_preset_json(report));
}

void add_preset_option(CLI::App& app, const sim::PresetOption& option, PresetCommand& command) {
  const std::string name(option.name);
  const std::string flag = "--" + name;
  const std::string about(option.about);
  if (option.kind == sim::PresetKind::kFlag) {
    app.add_flag(flag, command.flags[name], about);
    return;
  }
  std::string& value = command.values[name];
  value = option.value;
  CLI::Option* added =
      app.add_option(flag, value, about)->check([&option](const std::string& text) {
        return sim::check_preset_value(option, text);
      });
  if (option.kind == sim::PresetKind::kFile && value.empty())
    added->required();
  else
    added->capture_default_str();
}

}  // namespace

std::string preset_help() {
  std::string help =
      "Presets, experiments with a world of their own (--preset NAME --help shows "
      "their options):";
  for (const sim::Preset* preset : sim::presets())
    help += slackline::format("\n  {}: {}", preset->name, preset->about);
  return help;
}

void add_simulate_preset(CLI::App& app, int& exit_code, const std::string& name) {
  const auto options = std::make_shared<PresetCommand>();
  const auto found = sim::find_preset(name);
  CLI::App* command =
      app.add_subcommand("simulate", found ? std::string((*found)->about) : "Simulate a preset");
  command->add_option("--preset", options->preset, "The experiment")->required();
  if (!found) {
    command->allow_extras();
    command->footer(preset_help());
    command->callback([&exit_code, options, error = found.error()] {
      report_failure(error);
      exit_code = kWrongUsage;
    });
    return;
  }
  const sim::Preset& preset = **found;
  for (const sim::PresetOption& option : preset.options)
    add_preset_option(*command, option, *options);
  options->seeds = preset.seeds;
  command->add_option(slackline::format("--{}", preset.seeds_name), options->seeds, "FROM-TO")
      ->check([](const std::string& text) {
        const auto seeds = sim::parse_seeds(text);
        return seeds ? std::string() : seeds.error().message;
      })
      ->capture_default_str();
  command
      ->add_option("--compare", options->compare,
                   slackline::format("NAME,NAME,... of {}; else the first {}",
                                     fmt::join(preset.policies, ", "), preset.compared))
      ->check([&preset](const std::string& text) {
        const auto policies = sim::parse_preset_policies(preset, text);
        return policies ? std::string() : policies.error().message;
      });
  command->add_option("--report", options->report, "Write the table here (JSON)");
  command->callback([&exit_code, &preset, options] {
    const Status done = run_preset(preset, *options);
    exit_code = done ? 0 : report_refused_or_unanswered(done.error());
  });
}

}  // namespace slackline::cli
