// The flags of a command that asks a daemon. Called as `kubectl slackline`, kubectl's own are among
// them, with kubectl's meaning, and without --server the API server is asked.
#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "cli/ask/api_server_way.h"
#include "cli/called.h"
#include "cli/commands.h"
#include "cluster/api/credentials.h"
#include "cluster/api/kubeconfig.h"
#include "slackline/base/clock.h"
#include "slackline/base/duration.h"
#include "slackline/base/text.h"

namespace slackline::cli {
namespace {

constexpr double kNoTimeout_s = 24 * kHour_s;  // of --request-timeout=0

struct KubectlFlags {
  ApiServerWay way{.access = {.kubeconfig_first = true}};
  std::string request_timeout;
  bool all_namespaces = false;
};

struct Refused {
  const char* flag;
  const char* remedy;
};

constexpr const char* kByContext = "choose a context with --context";
constexpr const char* kInKubeconfig = "write it into the kubeconfig";
constexpr const char* kFilter = "filter what -o json or -o csv prints";

constexpr std::array kRefused = {
    Refused{"--cluster", kByContext},
    Refused{"--user", kByContext},
    Refused{"--as-user-extra", "only --as, --as-group and --as-uid are"},
    Refused{"--certificate-authority", kInKubeconfig},
    Refused{"--client-certificate", kInKubeconfig},
    Refused{"--client-key", kInKubeconfig},
    Refused{"--insecure-skip-tls-verify", kInKubeconfig},
    Refused{"--tls-server-name", kInKubeconfig},
    Refused{"--username", kInKubeconfig},
    Refused{"--password", kInKubeconfig},
    Refused{"-l,--selector", kFilter},
    Refused{"--field-selector", kFilter},
    Refused{"--sort-by", kFilter},
    Refused{"-L,--label-columns", kFilter},
    Refused{"--show-labels", kFilter},
    Refused{"--no-headers", "-o csv has one heading and -o json none"},
    Refused{"--watch-only", "use --watch, where a command has it"},
    Refused{"--chunk-size", "lists are always read in parts"},
    Refused{"--template", "use -o json"},
    Refused{"-v,--v", "errors already say what was asked"},
};

bool given(const CLI::App& command, const std::string& flag) {
  const CLI::Option* option = command.get_option_no_throw(flag);
  return option != nullptr && option->count() > 0;
}

// kubectl's: a bare number is seconds, 0 none.
double timeout_of(const std::string& text) {
  const auto number = parse_number(text);
  const auto seconds = number ? Result<double>(*number) : parse_duration_s(text);
  if (!seconds || !(*seconds >= 0 && *seconds <= kNoTimeout_s))
    throw CLI::ValidationError(
        "--request-timeout",
        format("\"{}\" is no time: write seconds or a duration up to 24h, as in 30 or 2m; 0: none",
               printable(text, 64)));
  return *seconds > 0 ? *seconds : kNoTimeout_s;
}

// A flag that would change nothing is refused.
void check_flags(const CLI::App& command, const KubectlFlags& flags) {
  if (flags.all_namespaces)
    for (const CLI::Option* option : command.get_options())
      if (option->get_positional() && option->count() > 0)
        throw CLI::ValidationError(
            "--all-namespaces", "what is named is in one namespace: write NAMESPACE/NAME instead");
  if (given(command, "--server"))
    for (const char* flag : {"--as", "--as-group", "--as-uid"})
      if (given(command, flag))
        throw CLI::ValidationError(
            flag, "only the API server lets you ask as somebody else: leave --server out");
  if (flags.way.as.empty() && (given(command, "--as-group") || given(command, "--as-uid")))
    throw CLI::ValidationError("--as-group and --as-uid", "they need --as, the user");
}

// The token is the one that was given or, over https, the kubeconfig's.
Status take_token(const KubectlFlags& flags, client::ClientOptions& server) {
  if (!server.token.empty() || !server.url.starts_with("https://")) return {};
  const auto endpoint = cluster::find_endpoint(flags.way.access);
  if (!endpoint) return {};
  cluster::Credentials credentials(*endpoint, system_clock());
  SLACKLINE_ASSIGN(const auto credential,
                   server.in_a_hurry ? credentials.current(server.timeout_s) : credentials.await());
  server.token = credential.token;
  return {};
}

Status find_way(const CLI::App& command, KubectlFlags& flags, client::ClientOptions& server,
                std::string& ns) {
  if (!flags.request_timeout.empty()) server.timeout_s = timeout_of(flags.request_timeout);
  flags.way.timeout_s = server.timeout_s;
  flags.way.in_a_hurry = server.in_a_hurry;
  const auto endpoint = cluster::find_endpoint(flags.way.access);
  const bool named = given(command, "--context") || given(command, "--kubeconfig");
  if (!endpoint && (named || server.url.empty())) return fail(endpoint.error());
  if (flags.all_namespaces)
    ns.clear();
  else if (!given(command, "--namespace") && command.get_option_no_throw("--namespace") != nullptr)
    ns = endpoint && !endpoint->ns.empty() ? endpoint->ns : "default";
  if (!server.url.empty()) return take_token(flags, server);
  flags.way.service_named = given(command, "--service");
  SLACKLINE_ASSIGN(server.way, way_through_api_server(flags.way));
  return {};
}

void add_flags(CLI::App& command, KubectlFlags& flags) {
  command.add_flag("-A,--all-namespaces", flags.all_namespaces,
                   "Not only the namespace of -n or of the context");
  command.add_option("--context", flags.way.access.context,
                     "Context of the kubeconfig; without one the current");
  command.add_option("--kubeconfig", flags.way.access.kubeconfig,
                     "Kubeconfig; without one $KUBECONFIG or ~/.kube/config");
  command
      .add_option("--service", flags.way.service,
                  "NAMESPACE/NAME of the Service that deploy/proxy makes")
      ->capture_default_str();
  command.add_option("--as", flags.way.as, "User as whom the API server is asked");
  command.add_option("--as-group", flags.way.as_groups, "Group of that user; may be repeated")
      ->allow_extra_args(false);
  command.add_option("--as-uid", flags.way.as_uid, "UID of that user");
  command.add_option("--request-timeout", flags.request_timeout,
                     "How long one request may take: seconds, or 2m; 0: as long as it takes");
}

}  // namespace

void add_daemon_options(CLI::App& command, client::ClientOptions& server, std::string& ns) {
  add_server_options(command, server);
  if (!is_plugin()) return;
  server.url.clear();
  command.get_option("--server")
      ->description("A REST listener of the daemon; without it the API server is asked")
      ->default_str("");
  const auto flags = std::make_shared<KubectlFlags>();
  add_flags(command, *flags);
  command.parse_complete_callback([&command, &server, &ns, flags] {
    check_flags(command, *flags);
    const Status found = find_way(command, *flags, server, ns);
    if (!found) throw std::runtime_error(found.error().message);
  });
}

void refuse_other_flags_of_kubectl(CLI::App& command) {
  for (const Refused& refused : kRefused) {
    const auto refuse = [&refused](const std::string&) {
      throw CLI::ValidationError(
          refused.flag, format("this flag of kubectl is not supported: {}", refused.remedy));
    };
    command.add_option_function<std::string>(refused.flag, refuse)->expected(0, 1)->group("");
  }
}

}  // namespace slackline::cli
