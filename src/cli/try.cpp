// `slackline try`: judges every node for a manifest, without creating it.
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "client/client.h"
#include "config/load.h"
#include "slackline/base/text.h"
#include "wire/format/text_table.h"
#include "wire/kube/manifest.h"

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

bool fits_somewhere(const wire::TriedManifest& tried) {
  for (const wire::TriedNode& node : tried.nodes)
    if (node.passes) return true;
  return false;
}

Result<wire::TriedManifest> ask(const TryOptions& options, const wire::ManifestObject& object) {
  const std::string& ns = object.ns.empty() ? options.ns : object.ns;
  SLACKLINE_ASSIGN(
      const std::string answer,
      client::Client(options.server)
          .post_json("/v1/scores?limit=1000&namespace=" + client::encode_query(ns), object.json));
  return wire::decode_tried(answer);
}

Result<std::vector<wire::ManifestObject>> objects_of(const std::string& file) {
  SLACKLINE_ASSIGN(const std::string text, config::read_text_file(file));
  return wire::split_manifest(text);
}

int run(const TryOptions& options) {
  const auto objects = objects_of(options.manifest);
  if (!objects) {
    std::fprintf(stderr, "slackline: %s\n", objects.error().message.c_str());
    return kFailure;
  }
  int exit_code = 0;
  for (std::size_t i = 0; i < objects->size(); ++i) {
    if (i > 0) std::fputs("\n", stdout);
    const auto tried = ask(options, (*objects)[i]);
    if (tried)
      show(*tried);
    else
      std::fprintf(stderr, "slackline: %s\n", tried.error().message.c_str());
    if (!tried || !fits_somewhere(*tried)) exit_code = kFailure;
  }
  std::fputs(
      "\nkube-scheduler asks only about nodes that passed its own filters: room, taints, "
      "selectors.\n",
      stdout);
  return exit_code;
}

}  // namespace

void add_try(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<TryOptions>();
  CLI::App* command = app.add_subcommand(
      "try", "Judge every node for a manifest; nothing is created. Exit code 1: it fits nowhere");
  command->add_option("manifest", options->manifest, "Pods and Jobs (YAML or JSON)")
      ->required()
      ->check(CLI::ExistingFile);
  command->add_option("-n,--namespace", options->ns, "Namespace of what names none in the manifest")
      ->capture_default_str();
  add_server_options(*command, options->server);
  command->callback([&exit_code, options] { exit_code = run(*options); });
}

}  // namespace slackline::cli
