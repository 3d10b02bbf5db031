// The queries to a running daemon: they differ only in the path.
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "cli/ask/watch.h"
#include "cli/called.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/numbers.h"
#include "cli/terminal.h"
#include "cli/text_files.h"
#include "client/client.h"
#include "client/list.h"
#include "client/terminal_table.h"
#include "config/load.h"
#include "slackline/base/text.h"
#include "slackline/model/extender_messages.h"
#include "slackline/model/object_key.h"
#include "wire/format/cells.h"
#include "wire/rest/portrait_codec.h"
#include "wire/rest/standing.h"

namespace slackline::cli {
namespace {

constexpr double kMostRows = 1e9;
constexpr std::size_t kNewestRows = 100;

struct AskOptions {
  client::ClientOptions server;
  std::string output = "table";
  std::string name;  // the positional "namespace/name"
  std::string ns;
  std::string verb;
  std::string queue;
  std::string since;
  std::string by;
  std::string compare_since;
  std::size_t limit = 0;  // rows; 0: all of them
  std::string import;     // a file
  bool all = false;
  bool packed = false;
  bool forget = false;
  bool samples = false;
  bool dry_run = false;
  std::string job;  // in `ns`
  bool watch = false;
  double interval_s = 2;
};

int show(const AskOptions& options, const std::string& path,
         const std::function<Result<std::string>()>& get) {
  if (options.watch)
    return watch(
        {program() + " " + path.substr(4, path.find('?') - 4), options.output, options.interval_s},
        get);
  const auto answer = get();
  if (!answer) return report_refusal(answer.error());
  if (options.output == "table" || options.output == "wide")
    std::fputs(answer->c_str(), stdout);  // its cells are printable, its colours ours
  else
    print_answer(*answer);
  return 0;
}

int ask(const AskOptions& options, const std::string& path) {
  if (options.output == "csv")
    return report_refusal(
        Error{ErrorCode::kInvalidArgument,
              "this answer is not printed as csv: csv is for lists; write -o json "
              "or -o yaml"});
  const std::string asked =
      path + (path.find('?') == std::string::npos ? "?" : "&") + "output=" + options.output;
  client::Client client(options.server);
  return show(options, path, [&] { return client.get(asked, "*/*"); });
}

// As the server renders it or, at a terminal, fitted to it.
Result<std::string> get_table(client::Client& client, const AskOptions& options,
                              const std::string& path) {
  const bool table = options.output == "table" || options.output == "wide";
  if (!table || !is_terminal())
    return client::get_list(client, path, {options.output, options.limit});
  SLACKLINE_ASSIGN(const std::string list,
                   client::get_list(client, path, {"cells", options.limit}));
  SLACKLINE_ASSIGN(const wire::Cells cells, wire::decode_cells(list));
  return client::terminal_table(cells, terminal_style(options.output));
}

int ask_list(const AskOptions& options, const std::string& path) {
  client::Client client(options.server);
  return show(options, path, [&] { return get_table(client, options, path); });
}

// Shows one task of the queue; the exit code says whether it will be in time.
int ask_task(const AskOptions& options, const std::string& path) {
  client::Client client(options.server);
  if (options.watch) return show(options, path, [&] { return get_table(client, options, path); });
  const auto list = client::get_list(client, path, {"json"});
  if (!list) return report_refusal(list.error());
  const bool as_it_is = options.output == "json" && options.limit == 0;
  const int shown =
      show(options, path, [&] { return as_it_is ? list : get_table(client, options, path); });
  if (shown != 0) return shown;
  const auto standing = wire::standing_in_queue(*list);
  return standing ? exit_code_of(*standing) : report_failure(standing.error());
}

int forget_model(const AskOptions& options) {
  const auto answer =
      client::Client(options.server).remove("/v1/models/" + client::encode_query(options.name));
  if (!answer) return report_failure(answer.error());
  std::printf("removed the learned data of %s\n", printable(options.name).c_str());
  return 0;
}

int forget_portraits(const AskOptions& options, const std::string& path) {
  const auto answer = client::Client(options.server).remove(path);
  if (!answer) return report_failure(answer.error());
  std::printf("removed what was known of %s\n", printable(options.name).c_str());
  return 0;
}

// CSV of a list has its wide table; this has what an import needs.
int export_portraits(const AskOptions& options, const std::string& path) {
  client::Client client(options.server);
  return show(options, path, [&]() -> Result<std::string> {
    SLACKLINE_ASSIGN(const std::string list,
                     client::get_list(client, path, {"json", options.limit}));
    return wire::packed_portraits_csv(list);
  });
}

// In parts, each of which is stored or not.
int import_portraits(const AskOptions& options) {
  constexpr std::size_t kPart = 500;
  constexpr std::size_t kMost = 100'000;
  const auto text = config::read_text_file(options.import);
  if (!text) return report_failure(text.error());
  const auto packed = wire::read_packed_portraits(*text, kMost);
  if (!packed) return report_failure(packed.error().with_context(options.import));
  client::Client client(options.server);
  for (std::size_t begin = 0; begin < packed->size(); begin += kPart) {
    const auto part = std::span(*packed).subspan(begin, std::min(kPart, packed->size() - begin));
    const auto answer = client.post_json("/v1/portraits", wire::write_posted_portraits(part));
    if (!answer)
      return report_failure(answer.error().with_context(
          format("{} of {} portraits were stored", begin, packed->size())));
  }
  std::printf("stored %zu portraits\n", packed->size());
  return 0;
}

// "ns/name", or "name" in the given namespace.
std::string full_name(const AskOptions& options) {
  if (options.name.find('/') != std::string::npos) return options.name;
  return format("{}/{}", options.ns.empty() ? "default" : options.ns, options.name);
}

// "ns/name" apart.
AskOptions in_its_namespace(AskOptions options) {
  if (options.name.empty()) return options;
  const auto key = parse_object_key(full_name(options));
  if (!key) {  // the daemon says what is wrong
    if (options.ns.empty()) options.ns = "default";
    return options;
  }
  options.ns = key->ns;
  options.name = key->name;
  return options;
}

std::string with_query(std::string path, const AskOptions& options) {
  char separator = '?';
  const auto add = [&](std::string_view key, const std::string& value) {
    if (value.empty()) return;
    path += separator;
    path += format("{}={}", key, client::encode_query(value));
    separator = '&';
  };
  add("namespace", options.ns);
  add("verb", options.verb);
  add("queue", options.queue);
  add("since", options.since);
  add("by", options.by);
  add("compareSince", options.compare_since);
  add("all", options.all ? "true" : "");
  add("packed", options.packed ? "true" : "");
  add("job", options.job);
  return path;
}

// Each query has options of its own: CLI11 applies a flag's environment variable to commands that
// were not called, too, and would overwrite the flags of the one that was called.
struct Question {
  CLI::App* command = nullptr;
  std::shared_ptr<AskOptions> options;
};

const std::vector<std::string> kListOutputs = {"table", "wide", "json", "yaml", "csv"};
const std::vector<std::string> kSingleOutputs = {"table", "wide", "json", "yaml"};
const std::vector<std::string> kPlainOutputs = {"table"};
const std::vector<std::string> kReportOutputs = {"table", "wide", "json", "yaml",
                                                 "csv",   "md",   "html"};

Question add_question(CLI::App& app, const std::string& name, const std::string& help,
                      const std::vector<std::string>& outputs = kListOutputs) {
  const auto options = std::make_shared<AskOptions>();
  CLI::App* command = app.add_subcommand(name, help);
  add_daemon_options(*command, options->server, options->ns);
  const std::string forms = slackline::join(outputs, ", ");
  command
      ->add_option("-o,--output", options->output,
                   outputs.size() == 1 ? format("Only {}", forms)
                                       : format("One of {}; wide has all columns", forms))
      ->check(CLI::IsMember(outputs))
      ->capture_default_str();
  return {command, options};
}

CLI::Option* add_limit(CLI::App& command, AskOptions& options) {
  return command.add_option("--limit", options.limit, "Show at most this many rows")
      ->check(in_range(1, kMostRows));
}

void add_queue(CLI::App& app, int& exit_code) {
  const auto [queue, options] =
      add_question(app, "queue", "List tasks that wait or are planned, by predicted start");
  queue->add_option("-n,--namespace", options->ns, "Only this namespace");
  queue->add_flag("--all", options->all,
                  "Also what waits and Slackline does not plan (NotManaged)");
  add_limit(*queue, *options);
  queue->add_flag("-w,--watch", options->watch, "Repeat until Ctrl-C");
  queue->add_option("--interval", options->interval_s, "Seconds between two updates, with --watch")
      ->check(in_range(0.2, 3600))
      ->capture_default_str();
  queue->add_option("task", options->name, "Only NAMESPACE/NAME, or NAME in --namespace");
  queue->callback([&exit_code, asked = options] {
    const AskOptions one = in_its_namespace(*asked);
    const std::string path = with_query("/v1/queue", one);
    exit_code = one.name.empty() ? ask_list(one, path)
                                 : ask_task(one, path + "&name=" + client::encode_query(one.name));
  });
}

void add_cluster(CLI::App& app, int& exit_code) {
  const auto [command, options] =
      add_question(app, "cluster", "Show the cluster as the daemon sees it", kSingleOutputs);
  command->callback([&exit_code, asked = options] { exit_code = ask(*asked, "/v1/cluster"); });
}

void add_nodes(CLI::App& app, int& exit_code) {
  const auto [command, options] =
      add_question(app, "nodes", "List nodes with their GPUs: used, held, free");
  add_limit(*command, *options);
  command->callback([&exit_code, asked = options] {
    exit_code = ask_list(*asked, with_query("/v1/nodes", *asked));
  });
}

void add_tasks(CLI::App& app, int& exit_code) {
  const auto [command, options] = add_question(app, "tasks", "List GPU tasks: Jobs, gangs, pods");
  command->add_option("-n,--namespace", options->ns, "Only this namespace");
  add_limit(*command, *options);
  command->add_option(
      "task", options->name,
      "Only NAMESPACE/NAME, or NAME in --namespace, with the errors in its annotations");
  command->callback([&exit_code, asked = options] {
    const AskOptions one = in_its_namespace(*asked);
    if (one.name.empty())
      exit_code = ask_list(*asked, with_query("/v1/tasks", *asked));
    else
      exit_code = ask(*asked, format("/v1/tasks/{}/{}", client::encode_query(one.ns),
                                     client::encode_query(one.name)));
  });
}

void add_scores(CLI::App& app, int& exit_code) {
  const auto [command, options] = add_question(
      app, "scores", "Show how every node is judged for a pod of the cluster, and why");
  command->add_option("pod", options->name, "NAMESPACE/NAME, or NAME in --namespace")->required();
  command->add_option("-n,--namespace", options->ns, "Of NAME");
  command->callback([&exit_code, asked = options] {
    exit_code = ask_list(*asked, "/v1/scores?pod=" + client::encode_query(full_name(*asked)));
  });
}

void add_placements(CLI::App& app, int& exit_code) {
  const auto [command, options] = add_question(
      app, "placements", "Show a task's run time and cost for every shape and GPU type");
  command->add_option("task", options->name, "NAMESPACE/NAME, or NAME in --namespace")->required();
  command->add_option("-n,--namespace", options->ns, "Of NAME");
  add_limit(*command, *options);
  command->callback([&exit_code, asked = options] {
    const std::string path = "/v1/tasks/" + client::encode_query(full_name(*asked));
    exit_code = ask_list(*asked, path + "/placements");
  });
}

void add_advice(CLI::App& app, int& exit_code) {
  const auto [command, options] = add_question(
      app, "advice",
      "Show what a Job should ask for by what its family used: evidence, confidence, effect");
  command->add_option("job", options->name, "NAMESPACE/NAME, or NAME in --namespace")->required();
  command->add_option("-n,--namespace", options->ns, "Of NAME");
  command->callback([&exit_code, asked = options] {
    const AskOptions one = in_its_namespace(*asked);
    exit_code = ask_list(one, format("/v1/tasks/{}/{}/advice", client::encode_query(one.ns),
                                     client::encode_query(one.name)));
  });
}

void add_models(CLI::App& app, int& exit_code) {
  const auto [command, options] = add_question(
      app, "models", "Show what is known about the speed of models, and where it comes from");
  CLI::Option* model =
      command->add_option("model", options->name, "Only this one, with its description");
  command
      ->add_flag("--delete", options->forget,
                 "Delete its learned data: samples, fits, description; profiles stay")
      ->needs(model);
  command
      ->add_flag("--samples", options->samples,
                 "What was learnt of its speed; -o json keeps all of it")
      ->needs(model);
  command->callback([&exit_code, asked = options] {
    const std::string path = "/v1/models/" + client::encode_query(asked->name);
    if (asked->forget)
      exit_code = forget_model(*asked);
    else if (asked->samples)
      exit_code = ask_list(*asked, path + "/samples");
    else if (asked->name.empty())
      exit_code = ask_list(*asked, "/v1/models");
    else
      exit_code = ask(*asked, path);
  });
}

int calibrate(const AskOptions& options, const std::string& path) {
  const auto answer =
      client::Client(options.server).post_json(path + "output=" + options.output, "");
  if (!answer) return report_failure(answer.error());
  print_answer(*answer);
  return 0;
}

void add_calibrate(CLI::App& app, int& exit_code) {
  const auto [command, options] = add_question(
      app, "calibrate",
      "Measure how fast a model trains: short runs of a Job that allows them, on GPUs that nobody "
      "waits for");
  command->add_option("model", options->name, "As the annotation slackline.dev/model names it")
      ->required();
  command->add_option("-n,--namespace", options->ns, "Only of Jobs of this namespace");
  command->add_flag("--dry-run", options->dry_run,
                    "Show what would be run and why; without it the planner begins as soon as "
                    "nobody waits");
  command->callback([&exit_code, asked = options] {
    const std::string path =
        with_query(format("/v1/models/{}/calibration", client::encode_query(asked->name)), *asked);
    exit_code = asked->dry_run ? ask_list(*asked, path)
                               : calibrate(*asked, path + (asked->ns.empty() ? "?" : "&"));
  });
}

void add_portraits(CLI::App& app, int& exit_code) {
  const auto [command, options] = add_question(
      app, "portraits", "Show what families of tasks use, ask for, and how their runs end");
  CLI::Option* family = command->add_option(
      "family", options->name, "Only this one: NAMESPACE/NAME, or NAME in --namespace");
  command->add_option("-n,--namespace", options->ns, "Only this namespace");
  add_limit(*command, *options);
  CLI::Option* packed = command->add_flag(
      "--packed", options->packed, "With all that is known of each, for --import (-o json or csv)");
  CLI::Option* import =
      command->add_option("--import", options->import,
                          "Store what --packed has written as JSON or CSV, in place of the same");
  command->add_flag("--delete", options->forget, "Delete what is known of this family")
      ->needs(family)
      ->excludes(packed)
      ->excludes(import);
  command
      ->add_option("--job", options->job,
                   "Only that of the family of this Job in --namespace; where it has none, the "
                   "nearest one, marked similar")
      ->excludes(family)
      ->excludes(import);
  command->callback([&exit_code, asked = options] {
    AskOptions one = *asked;
    if (!one.job.empty() && one.ns.empty()) one.ns = "default";
    if (const std::size_t slash = one.name.find('/'); slash != std::string::npos) {
      one.ns = one.name.substr(0, slash);
      one.name.erase(0, slash + 1);
    }
    std::string path = "/v1/portraits";
    if (!one.name.empty()) path += "/" + client::encode_query(one.name);
    path = with_query(path, one);
    if (!one.import.empty())
      exit_code = import_portraits(one);
    else if (one.packed && one.output == "csv")
      exit_code = export_portraits(one, path);
    else
      exit_code = one.forget ? forget_portraits(one, path) : ask_list(one, path);
  });
}

void add_decisions(CLI::App& app, int& exit_code) {
  const auto [command, options] =
      add_question(app, "decisions", "Show the newest rows of the decision journal");
  command->add_option("--pod", options->name, "Only NAMESPACE/NAME, or NAME in --namespace");
  command->add_option("-n,--namespace", options->ns, "Of NAME");
  command->add_option("--verb", options->verb, format("Only one of {}", verb_names()));
  options->limit = kNewestRows;
  add_limit(*command, *options)->capture_default_str();
  command->callback([&exit_code, asked = options] {
    AskOptions rows = *asked;
    rows.ns.clear();  // it is of the name
    std::string path = with_query("/v1/decisions", rows);
    if (!asked->name.empty())
      path += (path.find('?') == std::string::npos ? "?pod=" : "&pod=") +
              client::encode_query(full_name(*asked));
    exit_code = ask_list(*asked, path);
  });
}

void add_history(CLI::App& app, int& exit_code) {
  const auto [command, options] =
      add_question(app, "history",
                   "List finished Jobs and gangs: deadline met or missed, predicted and real time");
  command->add_option("-n,--namespace", options->ns, "Only this namespace");
  command->add_option("--queue", options->queue, "Only this queue");
  command->add_option("--since", options->since,
                      "Only those that ended since then: 24h, or 2026-11-21T12:00:00Z");
  command->add_option("task", options->name, "Only NAMESPACE/NAME, or NAME in --namespace");
  options->limit = kNewestRows;
  add_limit(*command, *options)->capture_default_str();
  command->callback([&exit_code, asked = options] {
    const AskOptions rows = in_its_namespace(*asked);
    std::string path = with_query("/v1/history", rows);
    if (!rows.name.empty()) path += "&name=" + client::encode_query(rows.name);
    exit_code = ask_list(rows, path);
  });
}

void add_report(CLI::App& app, int& exit_code) {
  const auto [command, options] = add_question(
      app, "report", "Show what runs asked for, held and used, deadlines met, and waits",
      kReportOutputs);
  command->add_option("-n,--namespace", options->ns, "Only this namespace");
  command->add_option("--by", options->by, "namespace (the default), family or gpu-type")
      ->check(CLI::IsMember({"namespace", "family", "gpu-type"}));
  command->add_option("--since", options->since,
                      "Runs that ended since then: 7d (the default), 2026-11-21, or a time");
  command->add_option("--compare-since", options->compare_since,
                      "Before and after then; without --since the time before is as long");
  add_limit(*command, *options);
  command->callback([&exit_code, asked = options] {
    const bool page = asked->output == "md" || asked->output == "html";
    const std::string path = with_query("/v1/reports", *asked);
    exit_code = page ? ask(*asked, path) : ask_list(*asked, path);
  });
}

void add_shadow_report(CLI::App& app, int& exit_code) {
  const auto [command, options] = add_question(
      app, "shadow-report",
      "Show what happened beside what the planner would have done (shadow and advise mode)");
  command->add_option("-n,--namespace", options->ns, "Only this namespace");
  command->add_option("--since", options->since,
                      "Runs that ended since then: 7d (the default), 2026-11-21, or a time");
  add_limit(*command, *options);
  command->callback([&exit_code, asked = options] {
    exit_code = ask_list(*asked, with_query("/v1/reports/shadow", *asked));
  });
}

void add_shares(CLI::App& app, int& exit_code) {
  const auto [command, options] =
      add_question(app, "shares", "Show what queues own, may borrow and use of each GPU type");
  add_limit(*command, *options);
  command->callback([&exit_code, asked = options] {
    exit_code = ask_list(*asked, with_query("/v1/shares", *asked));
  });
}

void add_ready(CLI::App& app, int& exit_code) {
  const auto [command, options] = add_question(
      app, "ready", "Ask whether the daemon is ready (exit code 0) and what it waits for",
      kPlainOutputs);
  command->callback([&exit_code, asked = options] { exit_code = ask(*asked, "/readyz?verbose"); });
}

}  // namespace

void add_server_options(CLI::App& command, client::ClientOptions& server) {
  server.url = "http://127.0.0.1:8180";
  command.add_option("-s,--server", server.url, "Address of the daemon's REST API")
      ->envname("SLACKLINE_SERVER")
      ->capture_default_str();
  command.add_option("--ca-file", server.ca_file, "CA of the server's certificate (PEM)");
  command.add_option("--cert-file", server.cert_file, "Client certificate (PEM)");
  command.add_option("--key-file", server.key_file, "Key of the client certificate (PEM)");
  command
      .add_option("--token", server.token,
                  "Bearer token of a ServiceAccount or user, if the daemon requires one")
      ->envname("SLACKLINE_TOKEN");
}

void add_manifest(CLI::App& command, const std::string& name, std::string& path) {
  command
      .add_option(name, path,
                  "Pods, Jobs and what has a pod template (YAML or JSON); -: standard input")
      ->required()
      ->check(CLI::ExistingFile | CLI::IsMember({"-"}));
}

void add_ask(CLI::App& app, int& exit_code) {
  add_cluster(app, exit_code);
  add_nodes(app, exit_code);
  add_tasks(app, exit_code);
  add_queue(app, exit_code);
  add_scores(app, exit_code);
  add_placements(app, exit_code);
  add_advice(app, exit_code);
  add_models(app, exit_code);
  add_calibrate(app, exit_code);
  add_portraits(app, exit_code);
  add_decisions(app, exit_code);
  add_history(app, exit_code);
  add_report(app, exit_code);
  add_shadow_report(app, exit_code);
  add_shares(app, exit_code);
  add_ready(app, exit_code);
}

}  // namespace slackline::cli
