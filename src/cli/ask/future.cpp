// The questions about the future of the queue: why, eta, quote, whatif, calendar.
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/numbers.h"
#include "cli/terminal.h"
#include "cli/text_files.h"
#include "client/client.h"
#include "client/list.h"
#include "client/terminal_table.h"
#include "config/load.h"
#include "slackline/base/clock.h"
#include "slackline/base/duration.h"
#include "slackline/base/text.h"
#include "slackline/model/object_key.h"
#include "wire/format/cells.h"
#include "wire/kube/manifest.h"
#include "wire/rest/answer_codec.h"

namespace slackline::cli {
namespace {

struct AnswerOptions {
  client::ClientOptions server;
  std::string output = "table";
  std::string task;
  std::string ns;
  std::string node;
  std::string file;
  std::string deadline;
  std::string drain;
  std::string add;
  std::string policy;
  std::string type;
  int days = 3;
};

void add_parameter(std::string& path, std::string_view name, const std::string& value) {
  if (value.empty()) return;
  path += format("{}{}={}", path.find('?') == std::string::npos ? '?' : '&', name,
                 client::encode_query(value));
}

int exit_code_of_answer(std::string_view standing) {
  if (standing == "unknown") return kTooLittleData;
  return standing == "starts" || standing == "in time" ? 0 : kAnswerIsNo;
}

// One task: what is told of it, and an exit code that says how it stands.
int ask_about_task(const AnswerOptions& options, std::string_view question) {
  const std::string ns = options.ns.empty() ? "default" : options.ns;
  const auto key = parse_object_key(
      options.task.find('/') == std::string::npos ? ns + "/" + options.task : options.task);
  if (!key) return report_refusal(key.error());
  std::string path = format("/v1/tasks/{}/{}/{}", client::encode_query(key->ns),
                            client::encode_query(key->name), question);
  add_parameter(path, "node", options.node);
  std::string as_json = path;
  add_parameter(as_json, "output", "json");
  client::Client client(options.server);
  const auto json = client.get(as_json, "*/*");
  if (!json) return report_failure(json.error());
  const auto standing = wire::standing_in_answer(*json);
  if (!standing) return report_failure(standing.error());
  if (options.output == "json") {
    print_answer(*json);
  } else {
    add_parameter(path, "output", options.output);
    const auto text = client.get(path, "*/*");
    if (!text) return report_failure(text.error());
    print_answer(*text);
  }
  return exit_code_of_answer(*standing);
}

// As the server renders it or, at a terminal, fitted to it.
Result<std::string> fitted(client::Client& client, const AnswerOptions& options,
                           const std::string& path) {
  const bool table = options.output == "table" || options.output == "wide";
  if (!table || !is_terminal()) return client::get_list(client, path, {options.output});
  SLACKLINE_ASSIGN(const std::string list, client::get_list(client, path, {"cells"}));
  SLACKLINE_ASSIGN(const wire::Cells cells, wire::decode_cells(list));
  return client::terminal_table(cells, terminal_style(options.output));
}

int show_list(const AnswerOptions& options, const std::string& path) {
  client::Client client(options.server);
  const auto text = fitted(client, options, path);
  if (!text) return report_refusal(text.error());
  print_answer(*text);
  return 0;
}

struct Quoted {
  std::string standing;
  std::string text;     // as it is asked for
  bool fitted = false;  // to the terminal: its cells are printable, its colours ours
};

Result<Quoted> quote_one(const AnswerOptions& options, const wire::ManifestObject& object) {
  SLACKLINE_TRY(can_be_asked(object));
  const std::string ns = !object.ns.empty()   ? object.ns
                         : options.ns.empty() ? "default"
                                              : options.ns;
  std::string path = "/v1/quote?limit=1000&namespace=" + client::encode_query(ns);
  add_parameter(path, "deadline", options.deadline);
  client::Client client(options.server);
  SLACKLINE_ASSIGN(std::string json, client.post_json(path + "&output=json", object.json));
  SLACKLINE_ASSIGN(std::string standing, wire::standing_in_quote(json));
  if (options.output == "json") return Quoted{std::move(standing), std::move(json)};
  const bool fit = is_terminal() && (options.output == "table" || options.output == "wide");
  SLACKLINE_ASSIGN(
      std::string text,
      client.post_json(path + "&output=" + (fit ? "cells" : options.output), object.json));
  if (!fit) return Quoted{std::move(standing), std::move(text)};
  SLACKLINE_ASSIGN(const wire::Cells cells, wire::decode_cells(text));
  return Quoted{std::move(standing), client::terminal_table(cells, terminal_style(options.output)),
                true};
}

// Of several objects: documents of YAML, one table of CSV, items of one JSON list.
void print_quote(const std::string& output, Quoted quote, bool first) {
  if (!first && output == "csv") quote.text.erase(0, quote.text.find('\n') + 1);
  if (!first && output != "csv")
    std::fputs(output == "yaml" ? "---\n" : output == "json" ? ",\n" : "\n", stdout);
  if (quote.fitted)
    std::fputs(quote.text.c_str(), stdout);
  else
    print_answer(quote.text);
}

// The worst of all objects of the file: late before unknown.
int quote(const AnswerOptions& options) {
  const auto manifest = read_manifest_file(options.file);
  if (!manifest) return report_failure(manifest.error());
  const bool is_list = options.output == "json" && manifest->objects.size() > 1;
  if (is_list) std::fputs("{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[\n", stdout);
  int worst = 0;
  bool first = true;
  for (const wire::ManifestObject& object : manifest->objects) {
    auto quoted = quote_one(options, object);
    const int code =
        quoted ? exit_code_of_answer(quoted->standing) : report_failure(quoted.error());
    if (worst == 0 || code == kFailure || (code == kAnswerIsNo && worst != kFailure)) worst = code;
    if (!quoted) continue;
    print_quote(options.output, *std::move(quoted), first);
    first = false;
  }
  if (is_list) std::fputs("]}\n", stdout);
  return worst;
}

int calendar(const AnswerOptions& options) {
  std::string path = format("/v1/calendar?days={}", options.days);
  add_parameter(path, "type", options.type);
  add_parameter(path, "namespace", options.ns);
  if (options.output != "ics") return show_list(options, path);
  client::Client client(options.server);
  const auto list = client::get_list(client, path, {"json"});
  if (!list) return report_refusal(list.error());
  const auto rows = wire::decode_calendar(*list);
  if (!rows) return report_failure(rows.error());
  std::fputs(wire::to_icalendar(*rows, system_clock().wall_s()).c_str(), stdout);
  return 0;
}

// "": it is one.
std::string is_time(const std::string& text) {
  if (parse_duration_s(text) || parse_rfc3339_s(text)) return {};
  return format("\"{}\": expected a duration such as 24h, or a time such as 2026-11-21T12:00:00Z",
                printable(text, 64));
}

CLI::App* add_answer(CLI::App& app, const std::shared_ptr<AnswerOptions>& options,
                     const std::string& name, const std::string& help,
                     const std::vector<std::string>& outputs) {
  CLI::App* command = app.add_subcommand(name, help);
  options->server.timeout_s = kForecastPatience_s;
  add_daemon_options(*command, options->server, options->ns);
  command->add_option("-o,--output", options->output, "One of: " + join(outputs, ", "))
      ->check(CLI::IsMember(outputs))
      ->capture_default_str();
  return command;
}

void add_task(CLI::App& command, AnswerOptions& options) {
  command.add_option("task", options.task, "NAMESPACE/NAME, or NAME in --namespace")->required();
  command.add_option("-n,--namespace", options.ns, "Of NAME");
}

void add_why_and_eta(CLI::App& app, int& exit_code) {
  const std::vector<std::string> outputs = {"table", "json", "yaml"};
  const auto why = std::make_shared<AnswerOptions>();
  CLI::App* command = add_answer(
      app, why, "why",
      "Say everything that a task waits for, who ends it and when, and which single change would "
      "help. Exit code 0: it starts now or runs; 1: it waits, or misses its deadline; 4: too "
      "little data",
      outputs);
  add_task(*command, *why);
  command->add_option("--node", why->node, "Also what keeps it off this node");
  command->callback([&exit_code, why] { exit_code = ask_about_task(*why, "explain"); });

  const auto eta = std::make_shared<AnswerOptions>();
  command = add_answer(
      app, eta, "eta",
      "Say when a task starts and finishes, with the chance to meet its deadline. Exit codes as "
      "of why",
      outputs);
  add_task(*command, *eta);
  command->callback([&exit_code, eta] { exit_code = ask_about_task(*eta, "eta"); });
}

void add_quote(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<AnswerOptions>();
  CLI::App* command = add_answer(
      app, options, "quote",
      "Say what a manifest would get on every GPU type and in every shape: start, finish, "
      "GPU-hours, whom it would delay; nothing is created. Exit code 1: it would be late or never "
      "start; 4: it has a deadline, and its run time is unknown",
      {"table", "wide", "json", "yaml", "csv"});
  add_manifest(*command, "-f,--filename,manifest", options->file);
  command->add_option("-n,--namespace", options->ns,
                      "Namespace of what names none in the manifest");
  command
      ->add_option("--deadline", options->deadline,
                   "In place of its own: 24h, or 2026-11-21T12:00:00Z")
      ->check(is_time);
  command->callback([&exit_code, options] { exit_code = quote(*options); });
}

void add_what_if(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<AnswerOptions>();
  CLI::App* command = add_answer(
      app, options, "whatif",
      "Say who gains and who loses if nodes are drained or added, or the policy is another one",
      {"table", "wide", "json", "yaml", "csv"});
  CLI::Option_group* change = command->add_option_group("change");
  change->add_option("--drain", options->drain, "Nodes, separated by commas");
  change->add_option("--add", options->add, "NODESxTYPExGPUS, as in 4xA100x8");
  change->add_option("--policy", options->policy,
                     "A policy with its options: savable-p,margin=0.2");
  change->require_option(1);
  command->add_option("-n,--namespace", options->ns,
                      "Your namespace, where you have no right to ask for all");
  command->callback([&exit_code, options] {
    std::string path = "/v1/whatif";
    add_parameter(path, "drain", options->drain);
    add_parameter(path, "add", options->add);
    add_parameter(path, "policy", options->policy);
    add_parameter(path, "namespace", options->ns);
    exit_code = show_list(*options, path);
  });
}

void add_calendar(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<AnswerOptions>();
  CLI::App* command = add_answer(
      app, options, "calendar", "Say how many GPUs of each type are predicted to be free, and when",
      {"table", "wide", "json", "yaml", "csv", "ics"});
  command->add_option("--type", options->type, "Only this GPU type");
  command->add_option("--days", options->days, "How far ahead")
      ->check(in_range(1, 14))
      ->capture_default_str();
  command->add_option("-n,--namespace", options->ns,
                      "Your namespace, where you have no right to ask for all");
  command->callback([&exit_code, options] { exit_code = calendar(*options); });
}

}  // namespace

void add_answers(CLI::App& app, int& exit_code) {
  add_why_and_eta(app, exit_code);
  add_quote(app, exit_code);
  add_what_if(app, exit_code);
  add_calendar(app, exit_code);
}

}  // namespace slackline::cli
