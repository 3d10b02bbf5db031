#include "cluster/api/kubeconfig.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <utility>

#include "cluster/api/exec_spec.h"
#include "slackline/base/base64.h"
#include "slackline/base/loopback.h"
#include "slackline/base/text.h"
#include "wire/format/json_view.h"
#include "wire/format/yaml.h"

namespace slackline::cluster {
namespace {

using wire::JsonView;

constexpr std::string_view kTokenRemedy =
    "use a ServiceAccount token: kubectl create token SERVICEACCOUNT -n NAMESPACE, put into a file "
    "that the user's tokenFile names";

Result<std::string> bytes_of(std::string_view text, std::string_view field) {
  auto bytes = decode_base64(text);
  if (!bytes) return fail(bytes.error().with_context(field));
  return bytes;
}

// As kubectl takes it: a kubeconfig in which nothing is written yet.
bool says_nothing(std::string_view text) {
  const auto lines = split(text, '\n');
  return std::all_of(lines.begin(), lines.end(), [](std::string_view line) {
    line = trim(line);
    return line.empty() || line.starts_with('#') || line == "---";
  });
}

// What one of the files says, and where its relative paths start.
struct Entry {
  JsonView says;
  std::string_view folder;
};

class MergedFiles {
 public:
  static Result<MergedFiles> read(const std::vector<KubeconfigFile>& files) {
    MergedFiles merged;
    for (const KubeconfigFile& file : files)
      if (auto status = merged.add(file); !status)
        return fail(files.size() == 1 ? status.error() : status.error().with_context(file.name));
    return merged;
  }

  std::string_view current_context() const {
    for (const Entry& root : roots_)
      if (const auto name = root.says["current-context"].text(); !name.empty()) return name;
    return {};
  }

  // The entry of a list ("clusters") with that name, and in it the part ("cluster").
  Result<Entry> find(std::string_view list, std::string_view part, std::string_view name) const {
    for (const Entry& root : roots_)
      for (const JsonView item : root.says[list].items())
        if (item["name"].text() == name) return Entry{item[part], root.folder};
    return fail(ErrorCode::kInvalidArgument,
                format("{}: there is no entry named '{}'", list, name));
  }

 private:
  Status add(const KubeconfigFile& file) {
    if (says_nothing(file.text)) return {};
    SLACKLINE_ASSIGN(const std::string json, wire::yaml_to_json(file.text));  // includes JSON
    auto document = std::make_unique<wire::JsonDocument>();
    SLACKLINE_ASSIGN(const JsonView root, document->parse(json));
    documents_.push_back(std::move(document));
    roots_.push_back({root, file.folder});
    return {};
  }

  std::vector<std::unique_ptr<wire::JsonDocument>> documents_;
  std::vector<Entry> roots_;
};

std::string path_in(std::string_view folder, std::string_view path) {
  if (path.empty()) return {};
  const std::filesystem::path given{path};
  return given.is_absolute() ? given.string() : (std::filesystem::path(folder) / given).string();
}

Status refuse_unsupported(JsonView cluster, JsonView user, std::string_view user_name) {
  const auto refuse = [&](std::string_view what, std::string_view remedy) {
    return fail(ErrorCode::kInvalidArgument, format("{} is not supported: {}", what, remedy));
  };
  const std::string who = format("user '{}': ", user_name);
  if (user["auth-provider"].present()) return refuse(who + "auth-provider", kTokenRemedy);
  if (user["username"].present() || user["password"].present())
    return refuse(who + "username and password", kTokenRemedy);
  if (user["as"].present() || user["as-uid"].present())
    return refuse(who + "impersonation (as)", kTokenRemedy);
  if (cluster["proxy-url"].present()) return refuse("proxy-url", "set HTTPS_PROXY instead");
  if (cluster["tls-server-name"].present())
    return refuse("tls-server-name", "use a server address that the certificate names");
  return {};
}

bool is_in_the_clear(const KubeEndpoint& endpoint) {
  return endpoint.server.starts_with("http://") && !is_loopback_url(endpoint.server);
}

Status read_server(JsonView cluster, std::string_view folder, KubeEndpoint& endpoint) {
  endpoint.server = cluster["server"].text();
  while (endpoint.server.ends_with('/'))
    endpoint.server.pop_back();
  const bool plain = endpoint.server.starts_with("http://");
  if (!plain && !endpoint.server.starts_with("https://"))
    return fail(ErrorCode::kInvalidArgument,
                format("server '{}': must start with https:// (or http://)", endpoint.server));
  if (is_in_the_clear(endpoint))
    endpoint.warnings.push_back(
        "server is plain http: no credentials are sent to it, and answers travel unprotected");
  endpoint.tls.ca_file = path_in(folder, cluster["certificate-authority"].text());
  SLACKLINE_ASSIGN(endpoint.tls.ca_data, bytes_of(cluster["certificate-authority-data"].text(),
                                                  "certificate-authority-data"));
  if (cluster["insecure-skip-tls-verify"].is_true()) {
    endpoint.tls.insecure_skip_verify = true;
    endpoint.warnings.push_back(
        "insecure-skip-tls-verify: the API server's identity is not checked; name its "
        "certificate-authority instead");
  }
  return {};
}

Status read_user(JsonView user, std::string_view folder, KubeEndpoint& endpoint) {
  endpoint.token = trim(user["token"].text());
  endpoint.token_file = path_in(folder, user["tokenFile"].text());
  net::TlsOptions& tls = endpoint.tls;
  tls.certificate_file = path_in(folder, user["client-certificate"].text());
  tls.key_file = path_in(folder, user["client-key"].text());
  SLACKLINE_ASSIGN(tls.certificate_data,
                   bytes_of(user["client-certificate-data"].text(), "client-certificate-data"));
  SLACKLINE_ASSIGN(tls.key_data, bytes_of(user["client-key-data"].text(), "client-key-data"));
  const bool certificate = !tls.certificate_file.empty() || !tls.certificate_data.empty();
  const bool key = !tls.key_file.empty() || !tls.key_data.empty();
  if (certificate != key)
    return fail(ErrorCode::kInvalidArgument,
                "client-certificate and client-key: one is given without the other");
  return {};
}

Result<std::string> read_whole(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream content;
  content << in.rdbuf();
  if (!in)
    return fail(ErrorCode::kNotFound,
                format("kubeconfig {} cannot be read: name one with --kubeconfig, or follow "
                       "a dump with --cluster file:DUMP",
                       path));
  return std::move(content).str();
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Of several files those that do not exist are left out; where none does, the first is missed.
Result<std::vector<std::string>> default_kubeconfigs() {
  const std::string named = environment("KUBECONFIG");
  std::vector<std::string> paths;
  std::error_code ignored;
  for (const std::string_view path : split(named, ':'))
    if (!path.empty() && std::find(paths.begin(), paths.end(), path) == paths.end())
      paths.emplace_back(path);
  if (paths.size() > 1) {
    const std::string first = paths.front();
    std::erase_if(paths, [&](const auto& path) { return !std::filesystem::exists(path, ignored); });
    if (paths.empty()) paths.push_back(first);
  }
  if (!paths.empty()) return paths;
  const std::string home = environment("HOME");
  if (home.empty())
    return fail(ErrorCode::kInvalidArgument, "no kubeconfig: name one with --kubeconfig");
  return std::vector{home + "/.kube/config"};
}

bool has_kubeconfig() {
  if (!environment("KUBECONFIG").empty()) return true;
  std::error_code none;
  const auto size = std::filesystem::file_size(environment("HOME") + "/.kube/config", none);
  return !none && size > 0;
}

// As in client-go: beside a token a file may come later, alone it must be there.
Status require_token_file(const KubeEndpoint& endpoint) {
  if (endpoint.token_file.empty() || !endpoint.token.empty()) return {};
  if (std::ifstream(endpoint.token_file).good()) return {};
  return fail(ErrorCode::kNotFound,
              format("the user's tokenFile {} cannot be read", endpoint.token_file));
}

}  // namespace

Result<KubeEndpoint> parse_kubeconfig(const std::vector<KubeconfigFile>& files,
                                      std::string_view context) {
  SLACKLINE_ASSIGN(const MergedFiles merged, MergedFiles::read(files));
  const std::string_view wanted = context.empty() ? merged.current_context() : context;
  if (wanted.empty())
    return fail(ErrorCode::kInvalidArgument,
                "current-context is not set: kubectl config use-context NAME");
  SLACKLINE_ASSIGN(const Entry chosen, merged.find("contexts", "context", wanted));
  SLACKLINE_ASSIGN(const Entry cluster,
                   merged.find("clusters", "cluster", chosen.says["cluster"].text()));
  Entry user;
  const std::string_view user_name = chosen.says["user"].text();
  if (!user_name.empty()) {
    SLACKLINE_ASSIGN(user, merged.find("users", "user", user_name));
  }
  SLACKLINE_TRY(refuse_unsupported(cluster.says, user.says, user_name));
  KubeEndpoint endpoint;
  endpoint.ns = chosen.says["namespace"].text();
  SLACKLINE_TRY(read_server(cluster.says, cluster.folder, endpoint));
  if (is_in_the_clear(endpoint)) return endpoint;  // as kubectl: without saying who asks
  SLACKLINE_TRY(read_user(user.says, user.folder, endpoint));
  // As client-go: a token of the file goes before a plug-in.
  if (user.says["exec"].present() && endpoint.token.empty() && endpoint.token_file.empty()) {
    auto exec = read_exec(user.says["exec"], cluster.says, user.folder, endpoint);
    if (!exec) return fail(exec.error().with_context(format("user '{}'", user_name)));
    endpoint.exec = *std::move(exec);
  }
  return endpoint;
}

Result<KubeEndpoint> in_cluster_endpoint(const std::string& service_account_folder) {
  std::string host = environment("KUBERNETES_SERVICE_HOST");
  const std::string port = environment("KUBERNETES_SERVICE_PORT");
  if (host.empty() || port.empty())
    return fail(ErrorCode::kInvalidArgument,
                "not in a pod: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set");
  if (host.find(':') != std::string::npos) host = "[" + host + "]";
  KubeEndpoint endpoint;
  endpoint.server = format("https://{}:{}", host, port);
  endpoint.tls.ca_file = service_account_folder + "/ca.crt";
  endpoint.token_file = service_account_folder + "/token";
  std::ifstream in(service_account_folder + "/namespace");
  in >> endpoint.ns;
  return endpoint;
}

Result<KubeEndpoint> find_endpoint(const KubeAccess& access) {
  if (access.kubeconfig.empty() && !environment("KUBERNETES_SERVICE_HOST").empty() &&
      !(access.kubeconfig_first && has_kubeconfig())) {
    if (!access.context.empty())
      return fail(ErrorCode::kInvalidArgument,
                  format("context \"{}\" does not exist: in this pod there is no kubeconfig; name "
                         "one with --kubeconfig",
                         printable(access.context, 64)));
    return in_cluster_endpoint(access.service_account_folder);
  }
  std::vector<std::string> paths = {access.kubeconfig};
  if (access.kubeconfig.empty()) {
    SLACKLINE_ASSIGN(paths, default_kubeconfigs());
  }
  std::vector<KubeconfigFile> files;
  for (const std::string& path : paths) {
    SLACKLINE_ASSIGN(std::string text, read_whole(path));
    files.push_back({std::move(text), std::filesystem::path(path).parent_path().string(), path});
  }
  auto endpoint = parse_kubeconfig(files, access.context);
  const Status usable = endpoint ? require_token_file(*endpoint) : fail(endpoint.error());
  if (!usable) return fail(usable.error().with_context("kubeconfig " + join(paths, ", ")));
  return endpoint;
}

}  // namespace slackline::cluster
