// `slackline check`: checks Slackline's configuration and a KubeSchedulerConfiguration before they
// do harm, and Kueue's quotas beside Slackline's shares.
#include <algorithm>
#include <cstdio>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/check_cluster.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/text_files.h"
#include "config/files.h"
#include "config/lint.h"
#include "config/load.h"
#include "control/learn/profiles.h"
#include "control/state/check_kueue.h"
#include "control/state/check_settings.h"
#include "control/state/settings.h"
#include "slackline/base/text.h"
#include "wire/format/document.h"
#include "wire/kueue/kueue_decode.h"

namespace slackline::cli {
namespace {

struct CheckOptions {
  std::string config;
  std::vector<std::string> schedulers;
  std::string kueue;
  bool stanza = false;
  std::string cluster;
  std::string kubeconfig;
};

CheckOutcome report(const std::string& file, const config::Findings& findings) {
  std::fputs(config::to_string(findings, file).c_str(), stdout);
  if (findings.empty()) std::printf("%s: no findings\n", file.c_str());
  return config::has_errors(findings) ? CheckOutcome::kWrong : CheckOutcome::kGood;
}

CheckOutcome report_unread(const std::string& file, const Error& error) {
  std::printf("%s: error: %s\n", file.c_str(), error.message.c_str());
  return CheckOutcome::kFailed;
}

// The line of a value; 0 where the file does not have it.
int line_of(const std::string& file, std::initializer_list<std::string_view> path) {
  const auto text = config::read_text_file(file);
  if (!text) return 0;
  const auto document = wire::read_document(*text);
  const wire::Document* value = document ? &*document : nullptr;
  for (const std::string_view key : path)
    if (value != nullptr) value = value->find(key);
  return value == nullptr ? 0 : value->line;
}

CheckOutcome check_ours(const std::string& file, config::Configuration& configuration) {
  const auto loaded = config::read_configuration(file);
  config::Findings findings;
  const auto add_error = [&findings](const Error& error, int line) {
    findings.push_back({config::Severity::kError, line, "", error.message, ""});
  };
  if (!loaded) return report_unread(file, loaded.error());
  findings = loaded->findings;
  if (!config::has_errors(findings)) {
    configuration = loaded->configuration;
    for (config::Finding& finding : config::check_files(configuration))
      findings.push_back(std::move(finding));
    if (const auto profiles = control::load_profiles(configuration.profiles); !profiles)
      add_error(profiles.error(), line_of(file, {"profiles"}));
    const auto settings = control::settings_of(configuration);
    if (!settings) add_error(settings.error(), line_of(file, {"planner", "policy"}));
    if (settings)
      for (config::Finding& finding : control::check_settings(*settings, configuration.gpus)) {
        finding.line = finding.path.starts_with("queues[") ? line_of(file, {"queues"})
                                                           : line_of(file, {"planner", "policy"});
        findings.push_back(std::move(finding));
      }
    config::sort_by_line(findings);
  }
  return report(file, findings);
}

// `before`: the files that were given before it.
CheckOutcome check_scheduler(const std::string& file, std::span<const std::string> before,
                             const config::Configuration& configuration) {
  const auto text = config::read_text_file(file);
  if (!text) return report_unread(file, text.error());
  config::Findings findings = config::lint_scheduler_configuration(*text, configuration);
  const config::Findings absent = config::check_scheduler_files(*text);
  findings.insert(findings.end(), absent.begin(), absent.end());
  for (const std::string& other : before) {
    const auto other_text = config::read_text_file(other);
    if (!other_text) continue;
    for (config::Finding& finding : config::lint_beside(*text, other, *other_text))
      findings.push_back(std::move(finding));
  }
  config::sort_by_line(findings);
  return report(file, findings);
}

CheckOutcome compare_with_kueue(const std::string& file,
                                const config::Configuration& configuration) {
  const std::string name = file == "-" ? "standard input" : file;
  const auto text = read_dump_file(file);
  if (!text) return report_unread(name, text.error());
  const auto kueue = wire::decode_kueue(*text, configuration.gpus);
  if (!kueue) {
    std::printf("%s: error: %s\n", name.c_str(), kueue.error().message.c_str());
    return CheckOutcome::kWrong;
  }
  const control::KueueCheck check =
      control::check_kueue(*kueue, configuration.queues, configuration.gpus);
  for (const control::KueuePromises& type : check.types)
    std::printf("%s: %s\n", name.c_str(), control::to_string(type).c_str());
  return report(name, check.findings);
}

// The rest would answer for a configuration that nobody wrote.
void say_what_is_left_out(const CheckOptions& options) {
  std::vector<std::string> rest;
  const auto add = [&rest](bool asked, const char* flag) {
    if (asked) rest.emplace_back(flag);
  };
  add(!options.kueue.empty(), "--kueue");
  add(!options.schedulers.empty(), "--scheduler");
  add(!options.cluster.empty(), "--cluster");
  add(options.stanza, "--stanza");
  if (!rest.empty())
    std::printf("%s: not done before its errors are mended: %s\n", options.config.c_str(),
                join(rest, ", ").c_str());
}

int check_exit_code(CheckOutcome outcome) {
  if (outcome == CheckOutcome::kGood) return 0;
  return outcome == CheckOutcome::kWrong ? kAnswerIsNo : kFailure;
}

int run(const CheckOptions& options) {
  config::Configuration configuration;
  CheckOutcome outcome = CheckOutcome::kGood;
  const auto add = [&outcome](CheckOutcome part) { outcome = std::max(outcome, part); };
  if (!options.config.empty()) add(check_ours(options.config, configuration));
  if (outcome != CheckOutcome::kGood) {
    say_what_is_left_out(options);
    return check_exit_code(outcome);
  }
  if (!options.kueue.empty()) add(compare_with_kueue(options.kueue, configuration));
  const std::span<const std::string> schedulers(options.schedulers);
  for (std::size_t i = 0; i < schedulers.size(); ++i)
    add(check_scheduler(schedulers[i], schedulers.first(i), configuration));
  if (!options.cluster.empty()) {
    if (!options.kubeconfig.empty()) configuration.cluster.kubeconfig = options.kubeconfig;
    add(check_cluster(configuration));
  }
  if (options.stanza) std::fputs(config::scheduler_stanza(configuration).c_str(), stdout);
  return check_exit_code(outcome);
}

}  // namespace

void add_check(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<CheckOptions>();
  CLI::App* command =
      app.add_subcommand("check",
                         "Check a SlacklineConfiguration, a KubeSchedulerConfiguration and the "
                         "cluster: line, problem, "
                         "remedy");
  CLI::Option* const ours =
      command->add_option("--config", options->config, "SlacklineConfiguration (YAML)")
          ->check(CLI::ExistingFile);
  command
      ->add_option("--scheduler", options->schedulers,
                   "KubeSchedulerConfiguration (YAML); several: also what they do to each other")
      ->check(CLI::ExistingFile);
  command
      ->add_option("--kueue", options->kueue,
                   "Where Kueue's quotas and the shares of --config promise one GPU twice: what "
                   "`kubectl get nodes,clusterqueues,cohorts,resourceflavors,localqueues -A -o "
                   "yaml` printed; -: standard input")
      ->type_name("FILE")
      ->needs(ours);
  command
      ->add_option("--cluster", options->cluster,
                   "kube: check whether tasks wait in the cluster while no replica leads")
      ->check(CLI::IsMember({"kube"}));
  command->add_option(
      "--kubeconfig", options->kubeconfig,
      "Kubeconfig; without one the pod's ServiceAccount, $KUBECONFIG or ~/.kube/config");
  command->add_flag("--stanza", options->stanza,
                    "Print the extenders stanza that fits the configuration");
  command->callback([&exit_code, options] {
    if (options->config.empty() && options->schedulers.empty() && options->cluster.empty() &&
        !options->stanza)
      throw CLI::RequiredError("--config, --scheduler, --cluster or --stanza");
    exit_code = run(*options);
  });
}

}  // namespace slackline::cli
