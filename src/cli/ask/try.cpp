// `slackline try`: what becomes of a manifest as it is written, and how every node is judged for
// it; nothing is created.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/text_files.h"
#include "client/client.h"
#include "slackline/base/clock.h"
#include "slackline/base/text.h"
#include "wire/format/text_table.h"
#include "wire/kube/manifest.h"
#include "wire/rest/answer_codec.h"

namespace slackline::cli {
namespace {

constexpr std::size_t kNamed = 3;  // nodes of a group

struct TryOptions {
  std::string manifest;
  std::string ns = "default";
  bool nodes = false;
  client::ClientOptions server;
};

void show_nodes(const std::vector<wire::TriedNode>& nodes) {
  wire::TextTable table({"NODE", "GPU TYPE", ">SCORE", "MEETS DEADLINE", "VERDICT"});
  for (const wire::TriedNode& node : nodes)
    table.add({node.name, node.gpu_type, std::to_string(node.score), node.meets_deadline,
               node.passes ? "passes" : node.message});
  std::fputs(table.str().c_str(), stdout);
}

// Nodes of one type and verdict, where the best of them stands; best first.
std::vector<std::vector<wire::TriedNode>> groups_of(const std::vector<wire::TriedNode>& nodes) {
  const auto alike = [](const wire::TriedNode& a, const wire::TriedNode& b) {
    return a.gpu_type == b.gpu_type && a.meets_deadline == b.meets_deadline &&
           a.passes == b.passes && a.message == b.message;
  };
  std::vector<std::vector<wire::TriedNode>> groups;
  for (const wire::TriedNode& node : nodes) {
    const auto found = std::find_if(groups.begin(), groups.end(),
                                    [&](const auto& group) { return alike(group.front(), node); });
    if (found == groups.end())
      groups.push_back({node});
    else
      found->push_back(node);
  }
  return groups;
}

void show_groups(const std::vector<wire::TriedNode>& nodes) {
  wire::TextTable table({">NODES", "GPU TYPE", ">SCORE", "MEETS DEADLINE", "VERDICT", "WHICH"});
  for (const auto& group : groups_of(nodes)) {
    const wire::TriedNode& best = group.front();
    const wire::TriedNode& worst = group.back();
    std::vector<std::string> names;
    for (std::size_t i = 0; i < std::min(kNamed, group.size()); ++i)
      names.push_back(group[i].name);
    if (group.size() > kNamed) names.push_back(format("and {} more", group.size() - kNamed));
    table.add({std::to_string(group.size()), best.gpu_type,
               best.score == worst.score ? std::to_string(best.score)
                                         : format("{}-{}", worst.score, best.score),
               best.meets_deadline, best.passes ? "passes" : best.message, join(names, ", ")});
  }
  std::fputs(table.str().c_str(), stdout);
}

// Shows what the daemon says about one object: its forecast as a whole, then node by node.
Result<wire::Standing> judge(const TryOptions& options, const wire::ManifestObject& object) {
  SLACKLINE_TRY(can_be_asked(object));
  const std::string ns = client::encode_query(object.ns.empty() ? options.ns : object.ns);
  client::Client client(options.server);
  SLACKLINE_ASSIGN(const std::string scores,
                   client.post_json("/v1/scores?limit=1000&namespace=" + ns, object.json));
  SLACKLINE_ASSIGN(const wire::TriedManifest tried, wire::decode_tried(scores));
  const auto quote = client.post_json("/v1/quote?output=json&namespace=" + ns, object.json);
  const auto written = quote ? wire::as_written_in_quote(*quote, system_clock().wall_s())
                             : Result<wire::AsWritten>(fail(quote.error()));
  const std::string of = object.of.empty() ? "" : format(" ({})", object.of);
  std::printf("%s%s %s\n", printable(tried.pod).c_str(), of.c_str(),
              written ? printable(written->text, 1000).c_str()
                      : ("has no forecast: " + printable(written.error().message, 200)).c_str());
  if (written && !written->note.empty())
    std::printf("%s\n", printable(written->note, 1000).c_str());
  std::printf("%s\n", printable(tried.note, 1000).c_str());
  for (const std::string& problem : written ? written->problems : tried.problems)
    std::printf("%s\n", printable(problem, 300).c_str());
  std::fputs("\n", stdout);
  options.nodes ? show_nodes(tried.nodes) : show_groups(tried.nodes);
  if (tried.more_nodes > 0)
    std::printf("%lld nodes more, which suit it less, are not shown.\n",
                static_cast<long long>(tried.more_nodes));
  return written ? written->standing : wire::standing_of(tried);
}

int run(const TryOptions& options) {
  const auto manifest = read_manifest_file(options.manifest);
  if (!manifest) return report_failure(manifest.error());
  bool failed = false;
  auto worst = wire::Standing::kInTime;
  for (std::size_t i = 0; i < manifest->objects.size(); ++i) {
    if (i > 0) std::fputs("\n", stdout);
    const auto standing = judge(options, manifest->objects[i]);
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
      "Say when a manifest would start and end, and judge every node for one of its pods; nothing "
      "is created. Exit code 1: it does not start, is cut short, or is likely to miss its "
      "deadline; 4: it has a deadline, and its run time is unknown, or it has no forecast");
  add_manifest(*command, "manifest", options->manifest);
  command->add_flag("--nodes", options->nodes, "Every node by itself, not nodes of equal verdict");
  command->add_option("-n,--namespace", options->ns, "Namespace of what names none in the manifest")
      ->capture_default_str();
  options->server.timeout_s = kForecastPatience_s;
  add_daemon_options(*command, options->server, options->ns);
  command->callback([&exit_code, options] { exit_code = run(*options); });
}

}  // namespace slackline::cli
