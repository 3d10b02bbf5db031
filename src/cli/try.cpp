// `slackline try`: what the extender would answer kube-scheduler for a manifest, without creating
// it.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "client/client.h"
#include "config/load.h"
#include "slackline/base/text.h"
#include "wire/extender_args.h"
#include "wire/text_table.h"

namespace slackline::cli {
namespace {

struct TryOptions {
  std::string manifest;
  client::ClientOptions api;
  client::ClientOptions extender;
};

struct TryRow {
  wire::NamedNode node;
  std::string verdict;
  int score = 0;
};

std::string verdict_of(const wire::FilterAnswer& answer, const std::string& node) {
  if (const auto at = answer.unresolvable.find(node); at != answer.unresolvable.end())
    return "never: " + at->second;
  if (const auto at = answer.failed.find(node); at != answer.failed.end())
    return "not now: " + at->second;
  return "passes";
}

Result<std::vector<TryRow>> ask_both_verbs(const TryOptions& options, const std::string& manifest) {
  SLACKLINE_ASSIGN(const std::string nodes_json,
                   client::Client(options.api).get("/v1/nodes?limit=1000", "application/json"));
  SLACKLINE_ASSIGN(const auto nodes, wire::decode_named_nodes(nodes_json));
  std::vector<std::string> names;
  for (const wire::NamedNode& node : nodes)
    names.push_back(node.name);

  const client::Client extender(options.extender);
  SLACKLINE_ASSIGN(const std::string filter_args, wire::encode_extender_args(manifest, names));
  SLACKLINE_ASSIGN(const std::string filter_json,
                   extender.post_json("/v1/extender/filter", filter_args));
  SLACKLINE_ASSIGN(const auto answer, wire::decode_filter_answer(filter_json));
  if (!answer.error.empty())
    return fail(ErrorCode::kUnavailable, "filter answered: " + answer.error);

  SLACKLINE_ASSIGN(const std::string score_args,
                   wire::encode_extender_args(manifest, answer.passed));
  SLACKLINE_ASSIGN(const std::string score_json,
                   extender.post_json("/v1/extender/prioritize", score_args));
  SLACKLINE_ASSIGN(const auto scores, wire::decode_scores(score_json));

  std::vector<TryRow> rows;
  for (const wire::NamedNode& node : nodes) {
    const auto score = scores.find(node.name);
    rows.push_back(
        {node, verdict_of(answer, node.name), score == scores.end() ? 0 : score->second});
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const TryRow& a, const TryRow& b) { return a.score > b.score; });
  return rows;
}

int run(const TryOptions& options) {
  const auto manifest = config::read_text_file(options.manifest);
  const auto rows = manifest ? ask_both_verbs(options, *manifest)
                             : Result<std::vector<TryRow>>(fail(manifest.error()));
  if (!rows) {
    std::fprintf(stderr, "slackline: %s\n", rows.error().message.c_str());
    return kFailure;
  }
  wire::TextTable table({"NODE", "GPU TYPE", "FILTER", "SCORE"});
  for (const TryRow& row : *rows)
    table.add({row.node.name, row.node.gpu_type, row.verdict,
               row.score > 0 ? std::to_string(row.score) : "-"});
  std::fputs(table.str().c_str(), stdout);
  std::fputs(
      "(kube-scheduler asks only about nodes that passed its own filters: room, taints, "
      "selectors)\n",
      stdout);
  return 0;
}

}  // namespace

void add_try(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<TryOptions>();
  options->api.url = "http://127.0.0.1:8180";
  options->extender.url = "http://127.0.0.1:8181";
  CLI::App* command = app.add_subcommand(
      "try", "Ask the extender about a manifest as kube-scheduler would; nothing is created");
  command->add_option("manifest", options->manifest, "A Pod or Job (YAML or JSON)")
      ->required()
      ->check(CLI::ExistingFile);
  command->add_option("-s,--server", options->api.url, "Address of the daemon's REST API")
      ->envname("SLACKLINE_SERVER")
      ->capture_default_str();
  command
      ->add_option("--extender", options->extender.url, "Address of the daemon's extender listener")
      ->capture_default_str();
  command->callback([&exit_code, options] { exit_code = run(*options); });
}

}  // namespace slackline::cli
