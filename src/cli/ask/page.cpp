// `slackline page`: the page on a port of this machine, with what a kubeconfig allows.
#include <csignal>
#include <cstdio>
#include <memory>
#include <random>
#include <string>
#include <utility>

#include "cli/ask/api_server_way.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/text_files.h"
#include "client/client.h"
#include "cluster/api/credentials.h"
#include "cluster/api/kubeconfig.h"
#include "http/routes/api_routes.h"
#include "http/routes/gateway_routes.h"
#include "http/routes/visible_paths.h"
#include "http/server/server.h"
#include "obs/metrics.h"
#include "slackline/base/clock.h"
#include "slackline/base/mutex.h"
#include "slackline/base/text.h"

namespace slackline::cli {
namespace {

struct PageOptions {
  client::ClientOptions server;
  cluster::KubeAccess kube;
  std::string service = kViewService;
  int port = 0;
  bool direct = false;  // --server was given
};

Result<http::Forward> through_the_api_server(const PageOptions& options) {
  SLACKLINE_ASSIGN(const client::Way way,
                   way_through_api_server({.access = options.kube,
                                           .service = options.service,
                                           .service_named = options.service != kViewService}));
  return http::Forward([way](const http::Onward& asked) -> Result<std::string> {
    SLACKLINE_ASSIGN(client::Page answer,
                     way({asked.method, asked.target, "application/json, text/plain", asked.body}));
    return std::move(answer.body);
  });
}

// To a listener of the daemon. The token is the one that was given or, over https, the
// kubeconfig's.
class DirectWay {
 public:
  DirectWay(client::ClientOptions server, const cluster::KubeAccess& kube)
      : server_(std::move(server)) {
    if (!server_.token.empty() || !server_.url.starts_with("https://")) return;
    const auto endpoint = cluster::find_endpoint(kube);
    if (endpoint) credentials_ = std::make_unique<cluster::Credentials>(*endpoint, system_clock());
  }

  Result<std::string> ask(const http::Onward& asked) {
    MutexLock lock(mutex_);
    auto answer = ask_once(asked);
    if (!is_unknown(answer)) return answer;
    if (credentials_) {
      credentials_->refuse(credential_);
      answer = ask_once(asked);
      if (!is_unknown(answer)) return answer;
    }
    return fail(ErrorCode::kUnavailable,
                format("{}: the token is not known there, or has expired: start `slackline page` "
                       "again, with a new one",
                       server_.url));
  }

 private:
  // Not 403, which the page takes for too few rights.
  static bool is_unknown(const Result<std::string>& answer) {
    return !answer && answer.error().message.ends_with("(HTTP 401)");
  }

  Result<std::string> ask_once(const http::Onward& asked) SLACKLINE_REQUIRES(mutex_) {
    if (credentials_) {
      SLACKLINE_ASSIGN(credential_, credentials_->await());
      if (credential_.token != server_.token) client_.reset();
      server_.token = credential_.token;
    }
    if (!client_) client_ = std::make_unique<client::Client>(server_);
    const std::string target(asked.target);
    if (asked.method == "POST") return client_->post_json(target, std::string(asked.body));
    return client_->get(target, "application/json, text/plain");
  }

  Mutex mutex_;
  client::ClientOptions server_ SLACKLINE_GUARDED_BY(mutex_);
  std::unique_ptr<cluster::Credentials> credentials_;  // null: the token stays as given
  cluster::Credentials::Credential credential_ SLACKLINE_GUARDED_BY(mutex_);
  std::unique_ptr<client::Client> client_ SLACKLINE_GUARDED_BY(mutex_);
};

Result<http::Forward> way_to_the_daemon(const PageOptions& options) {
  if (!options.direct) return through_the_api_server(options);
  return http::Forward([way = std::make_shared<DirectWay>(options.server, options.kube)](
                           const http::Onward& asked) { return way->ask(asked); });
}

std::string new_secret() {
  std::random_device device;
  std::string secret;
  for (int i = 0; i < 8; ++i)
    secret += format("{:08x}", device());
  return secret;
}

// Who may view one namespace only may not ask about the cluster: the page asks for its name.
bool may_view_less(const PageOptions& options, const Error& refusal) {
  if (refusal.code != ErrorCode::kForbidden) return false;
  return options.direct ? refusal.message.ends_with("(HTTP 403)")
                        : refusal.message.find(http::kVisibilityGroup) != std::string::npos;
}

Status serve_page(const PageOptions& options) {
  SLACKLINE_ASSIGN(http::Forward forward, way_to_the_daemon(options));
  if (const auto first = forward({"GET", "/v1/cluster", ""});
      !first && !may_view_less(options, first.error()))
    return fail(first.error().with_context(options.direct ? options.server.url : options.service));
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP})
    sigaddset(&signals, signal);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);  // before the server's threads begin
  const std::string secret = new_secret();
  http::Router router;
  http::set_error_pages(router);
  http::add_gateway_routes(router, std::move(forward));
  router.set_guard(http::make_secret_guard(secret));
  obs::MetricsRegistry metrics;
  http::Server server(metrics);
  http::Listener listener;
  listener.name = "page";
  listener.address = format("127.0.0.1:{}", options.port);
  listener.router = &router;
  SLACKLINE_TRY(server.start({listener}));
  std::printf("http://127.0.0.1:%d/#token=%s\n", server.port("page"), secret.c_str());
  std::fputs("Open it in a browser. It shows what you may see, until Ctrl-C ends it.\n", stdout);
  std::fflush(stdout);
  int signal = 0;
  sigwait(&signals, &signal);
  server.stop(http::milliseconds(0), http::milliseconds(1000));
  server.join();
  return {};
}

}  // namespace

void add_page(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<PageOptions>();
  options->kube.kubeconfig_first = true;
  CLI::App* command = app.add_subcommand(
      "page", "Show the cluster and its queue in a browser, with your kubeconfig's rights");
  add_server_options(*command, options->server);
  options->server.url.clear();
  command->get_option("--server")
      ->description("A REST listener of the daemon; without it the API server is asked")
      ->default_str("");
  command->add_option("--kubeconfig", options->kube.kubeconfig,
                      "Kubeconfig; without one $KUBECONFIG or ~/.kube/config");
  command->add_option("--context", options->kube.context, "Its context; without one the current");
  command
      ->add_option("--service", options->service,
                   "NAMESPACE/NAME of the Service that deploy/proxy makes")
      ->capture_default_str();
  command->add_option("--port", options->port, "Port of this machine; 0: any free one")
      ->check(CLI::Range(0, 65535))
      ->capture_default_str();
  command->callback([&exit_code, options] {
    PageOptions asked = *options;
    asked.direct = !asked.server.url.empty();
    const Status served = serve_page(asked);
    exit_code = served ? 0 : report_failure(served.error());
  });
}

}  // namespace slackline::cli
