// The questions one asks a running daemon: they differ only in the path.
#include <cstdio>
#include <memory>
#include <string>

#include "cli/commands.h"
#include "cli/numbers.h"
#include "cli/watch.h"
#include "client/client.h"
#include "slackline/base/text.h"
#include "slackline/model/extender.h"

namespace slackline::cli {
namespace {

struct AskOptions {
  client::ClientOptions server;
  std::string output = "table";
  std::string name;  // the positional "namespace/name"
  std::string ns;
  std::string verb;
  int limit = 0;
  bool forget = false;
  bool watch = false;
  double interval_s = 2;
};

int ask(const AskOptions& options, const std::string& path) {
  const std::string asked =
      path + (path.find('?') == std::string::npos ? "?" : "&") + "output=" + options.output;
  const client::Client client(options.server);
  const auto get = [&] { return client.get(asked, "*/*"); };
  if (options.watch)
    return watch(
        {"slackline " + path.substr(4, path.find('?') - 4), options.output, options.interval_s},
        get);
  const auto answer = get();
  if (!answer) {
    std::fprintf(stderr, "slackline: %s\n", answer.error().message.c_str());
    return kFailure;
  }
  std::fputs(answer->c_str(), stdout);
  if (!answer->empty() && answer->back() != '\n') std::fputc('\n', stdout);
  return 0;
}

int forget_model(const AskOptions& options) {
  const auto answer =
      client::Client(options.server).remove("/v1/models/" + client::encode_query(options.name));
  if (!answer) {
    std::fprintf(stderr, "slackline: %s\n", answer.error().message.c_str());
    return kFailure;
  }
  std::printf("forgot what was learnt of %s\n", printable(options.name).c_str());
  return 0;
}

// "ns/name", or "name" in the namespace "default".
std::string qualified(const std::string& name) {
  return name.find('/') == std::string::npos ? "default/" + name : name;
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
  if (options.limit > 0) add("limit", std::to_string(options.limit));
  return path;
}

CLI::App* add_question(CLI::App& app, const std::string& name, const std::string& help,
                       const std::shared_ptr<AskOptions>& options) {
  CLI::App* command = app.add_subcommand(name, help);
  command->add_option("-s,--server", options->server.url, "Address of the daemon's REST API")
      ->envname("SLACKLINE_SERVER")
      ->capture_default_str();
  command->add_option("--ca-file", options->server.ca_file, "CA of the server's certificate (PEM)");
  command->add_option("--cert-file", options->server.cert_file, "Client certificate (PEM)");
  command->add_option("--key-file", options->server.key_file,
                      "Key of the client certificate (PEM)");
  command
      ->add_option("--token", options->server.token,
                   "Bearer token of a ServiceAccount or user, where the daemon asks for one")
      ->envname("SLACKLINE_TOKEN");
  command
      ->add_option("-o,--output", options->output, "table, wide (all columns), json, yaml or csv")
      ->check(CLI::IsMember({"table", "wide", "json", "yaml", "csv"}))
      ->capture_default_str();
  return command;
}

void add_queue(CLI::App& app, int& exit_code, const std::shared_ptr<AskOptions>& options) {
  CLI::App* queue = add_question(
      app, "queue", "List tasks that wait or are planned, by predicted start", options);
  queue->add_option("-n,--namespace", options->ns, "Only this namespace");
  queue->add_option("--limit", options->limit, "At most so many rows");
  queue->add_flag("-w,--watch", options->watch, "Show it again and again, until Ctrl-C");
  queue->add_option("--interval", options->interval_s, "Seconds between two pictures, with --watch")
      ->check(in_range(0.2, 3600))
      ->capture_default_str();
  queue->callback(
      [&exit_code, options] { exit_code = ask(*options, with_query("/v1/queue", *options)); });
}

}  // namespace

void add_ask(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<AskOptions>();
  options->server.url = "http://127.0.0.1:8180";

  add_question(app, "cluster", "Show the cluster as the daemon sees it", options)
      ->callback([&exit_code, options] { exit_code = ask(*options, "/v1/cluster"); });

  CLI::App* nodes =
      add_question(app, "nodes", "List nodes with their GPUs: used, held, free", options);
  nodes->add_option("--limit", options->limit, "At most so many rows");
  nodes->callback(
      [&exit_code, options] { exit_code = ask(*options, with_query("/v1/nodes", *options)); });

  CLI::App* tasks = add_question(app, "tasks", "List GPU tasks: Jobs, gangs, pods", options);
  tasks->add_option("-n,--namespace", options->ns, "Only this namespace");
  tasks->add_option("--limit", options->limit, "At most so many rows");
  tasks->callback(
      [&exit_code, options] { exit_code = ask(*options, with_query("/v1/tasks", *options)); });

  add_queue(app, exit_code, options);

  CLI::App* scores = add_question(
      app, "scores", "Show how every node is judged for a pod of the cluster, and why", options);
  scores->add_option("pod", options->name, "NAMESPACE/NAME of the pod")->required();
  scores->callback([&exit_code, options] {
    exit_code = ask(*options, "/v1/scores?pod=" + client::encode_query(qualified(options->name)));
  });

  CLI::App* placements = add_question(
      app, "placements", "Show what every shape and GPU type would give a task", options);
  placements->add_option("task", options->name, "NAMESPACE/NAME of the task")->required();
  placements->add_option("--limit", options->limit, "At most so many rows");
  placements->callback([&exit_code, options] {
    const std::string path = "/v1/tasks/" + client::encode_query(qualified(options->name));
    exit_code = ask(*options, with_query(path + "/placements", *options));
  });

  CLI::App* models = add_question(
      app, "models", "Show what is known about the speed of models, and where it comes from",
      options);
  CLI::Option* model =
      models->add_option("model", options->name, "Only this one, with its description");
  models
      ->add_flag("--delete", options->forget,
                 "Forget what was learnt of it: samples, fits, description; profiles stay")
      ->needs(model);
  models->callback([&exit_code, options] {
    const std::string path = options->name.empty()
                                 ? "/v1/models?limit=1000"
                                 : "/v1/models/" + client::encode_query(options->name);
    exit_code = options->forget ? forget_model(*options) : ask(*options, path);
  });

  CLI::App* decisions =
      add_question(app, "decisions", "Show the newest rows of the decision journal", options);
  decisions->add_option("--pod", options->name, "Only NAMESPACE/NAME");
  decisions->add_option("--verb", options->verb, format("Only one of {}", verb_names()));
  decisions->add_option("--limit", options->limit, "At most so many rows");
  decisions->callback([&exit_code, options] {
    std::string path = with_query("/v1/decisions", *options);
    if (!options->name.empty())
      path += (path.find('?') == std::string::npos ? "?pod=" : "&pod=") +
              client::encode_query(qualified(options->name));
    exit_code = ask(*options, path);
  });

  add_question(app, "ready", "Ask whether the daemon is ready (exit code 0) and what it waits for",
               options)
      ->callback([&exit_code, options] { exit_code = ask(*options, "/readyz?verbose"); });
}

}  // namespace slackline::cli
