#include "config/files.h"

#include <array>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include <unistd.h>

#include "slackline/base/text.h"
#include "wire/format/document.h"

namespace slackline::config {
namespace {

namespace fs = std::filesystem;

bool others_may_read(const std::string& file) {
  std::error_code error;
  const fs::perms mode = fs::status(file, error).permissions();
  return !error && (mode & fs::perms::others_read) != fs::perms::none;
}

// By the path of their keys in the configuration.
std::vector<std::pair<std::string, const TlsSettings*>> given_tls(const Configuration& from) {
  const ListenersSettings& listeners = from.listeners;
  std::vector<std::pair<std::string, const TlsSettings*>> given;
  for (const auto& [name, listener] :
       std::array<std::pair<std::string_view, const ListenerSettings*>, 4>{
           {{"extender", &listeners.extender},
            {"api", &listeners.api},
            {"remoteApi", &listeners.remote_api},
            {"webhook", &listeners.webhook}}})
    if (listener->tls) given.emplace_back(format("listeners.{}.tls.", name), &*listener->tls);
  return given;
}

void check_scheduler_tls(const wire::Document& tls, const std::string& path, Findings& findings) {
  for (const std::string_view key : {"caFile", "certFile", "keyFile"}) {
    const wire::Document* file = tls.find(key);
    std::error_code error;
    if (file == nullptr || file->scalar.empty() || fs::exists(file->scalar, error)) continue;
    findings.push_back(
        {Severity::kWarning, file->line, format("{}.{}", path, key),
         format("{} is not on this machine: kube-scheduler does not start without it",
                printable(file->scalar)),
         "check where it runs, and create or mount the file before this is used"});
  }
}

}  // namespace

Findings check_key_files(const Configuration& configuration) {
  Findings findings;
  for (const auto& [path, tls] : given_tls(configuration))
    if (others_may_read(tls->key_file))
      findings.push_back(
          {Severity::kWarning, 0, path + "keyFile",
           format("{} can be read by every user of this machine", printable(tls->key_file)),
           "chmod 600 it; in a Secret's volume set defaultMode: 0440 and the pod's fsGroup"});
  return findings;
}

Findings check_files(const Configuration& configuration) {
  Findings findings;
  for (const auto& [path, tls] : given_tls(configuration))
    for (const auto& [key, file] : std::array<std::pair<std::string_view, std::string_view>, 3>{
             {{"certFile", tls->cert_file},
              {"keyFile", tls->key_file},
              {"clientCAFile", tls->client_ca_file}}})
      if (!file.empty() && ::access(std::string(file).c_str(), R_OK) != 0)
        findings.push_back({Severity::kWarning, 0, format("{}{}", path, key),
                            format("{} cannot be read here: {}", printable(file),
                                   std::generic_category().message(errno)),
                            "the daemon does not start without it"});
  const PrometheusSettings& prometheus = configuration.telemetry.prometheus;
  for (const auto& [key, file] : std::array<std::pair<std::string_view, std::string_view>, 2>{
           {{"bearerTokenFile", prometheus.bearer_token_file}, {"caFile", prometheus.ca_file}}})
    if (!file.empty() && ::access(std::string(file).c_str(), R_OK) != 0)
      findings.push_back({Severity::kWarning, 0, format("telemetry.prometheus.{}", key),
                          format("{} cannot be read here: {}", printable(file),
                                 std::generic_category().message(errno)),
                          "nothing is measured without it"});
  for (Finding& finding : check_key_files(configuration))
    findings.push_back(std::move(finding));
  return findings;
}

Findings check_scheduler_files(std::string_view text) {
  Findings findings;
  const auto document = wire::read_document(text);
  const wire::Document* extenders = document ? document->find("extenders") : nullptr;
  if (extenders == nullptr) return findings;
  for (std::size_t i = 0; i < extenders->items.size(); ++i)
    if (const wire::Document* tls = extenders->items[i].find("tlsConfig"))
      check_scheduler_tls(*tls, format("extenders[{}].tlsConfig", i), findings);
  return findings;
}

}  // namespace slackline::config
