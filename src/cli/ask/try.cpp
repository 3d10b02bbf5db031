// `slackline try`: judges every node for a manifest, without creating it.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/text_files.h"
#include "client/client.h"
#include "config/load.h"
#include "slackline/base/text.h"
#include "wire/format/text_table.h"
#include "wire/kube/manifest.h"
#include "wire/rest/standing.h"

namespace slackline::cli {
namespace {

struct TryOptions {
  std::string manifest;
  std::string ns = "default";
  client::ClientOptions server;
};

void show(const wire::TriedManifest& tried) {
  std::printf("%s: %s\n", printable(tried.pod).c_str(), printable(tried.note, 1000).c_str());
  for (const std::string& problem : tried.problems)
    std::printf("%s\n", printable(problem, 200).c_str());
  wire::TextTable table({"NODE", "GPU TYPE", ">SCORE", "MEETS DEADLINE", "VERDICT"});
  for (const wire::TriedNode& node : tried.nodes)
    table.add({node.name, node.gpu_type, std::to_string(node.score), node.meets_deadline,
               node.passes ? "passes" : node.message});
  std::fputs(table.str().c_str(), stdout);
}

// Shows what the daemon says about one object.
Result<wire::Standing> judge(const TryOptions& options, const wire::ManifestObject& object) {
  const std::string& ns = object.ns.empty() ? options.ns : object.ns;
  SLACKLINE_ASSIGN(
      const std::string answer,
      client::Client(options.server)
          .post_json("/v1/scores?limit=1000&namespace=" + client::encode_query(ns), object.json));
  SLACKLINE_ASSIGN(const wire::TriedManifest tried, wire::decode_tried(answer));
  show(tried);
  return wire::standing_of(tried);
}

Result<std::vector<wire::ManifestObject>> objects_of(const std::string& file) {
  SLACKLINE_ASSIGN(const std::string text, config::read_text_file(file));
  return wire::split_manifest(text);
}

int run(const TryOptions& options) {
  const auto objects = objects_of(options.manifest);
  if (!objects) return report_failure(objects.error());
  bool failed = false;
  auto worst = wire::Standing::kInTime;
  for (std::size_t i = 0; i < objects->size(); ++i) {
    if (i > 0) std::fputs("\n", stdout);
    const auto standing = judge(options, (*objects)[i]);
    if (!standing) report_failure(standing.error());
    failed = failed || !standing;
    if (standing) worst = std::max(worst, *standing);
  }
  std::fputs("\nWhether a node has room for it now is for kube-scheduler to say.\n", stdout);
  return failed ? kFailure : exit_code_of(worst);
}

}  // namespace

void add_try(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<TryOptions>();
  CLI::App* command = app.add_subcommand(
      "try",
      "Judge every node for a manifest; nothing is created. Exit code 1: it fits nowhere, or would "
      "miss its deadline if it started now; 4: nothing is known about its speed");
  command->add_option("manifest", options->manifest, "Pods and Jobs (YAML or JSON)")
      ->required()
      ->check(CLI::ExistingFile);
  command->add_option("-n,--namespace", options->ns, "Namespace of what names none in the manifest")
      ->capture_default_str();
  add_daemon_options(*command, options->server, options->ns);
  command->callback([&exit_code, options] { exit_code = run(*options); });
}

}  // namespace slackline::cli
