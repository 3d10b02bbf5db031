#include "config/files.h"

#include <array>
#include <filesystem>
#include <system_error>

#include "slackline/base/text.h"
#include "wire/document.h"

namespace slackline::config {
namespace {

namespace fs = std::filesystem;

bool others_may_read(const std::string& file) {
  std::error_code error;
  const fs::perms mode = fs::status(file, error).permissions();
  return !error && (mode & fs::perms::others_read) != fs::perms::none;
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
  const ListenersSettings& listeners = configuration.listeners;
  struct Named {
    std::string_view name;
    const ListenerSettings& listener;
  };
  Findings findings;
  for (const Named& each : std::array<Named, 3>{{{"extender", listeners.extender},
                                                 {"api", listeners.api},
                                                 {"webhook", listeners.webhook}}})
    if (each.listener.tls && others_may_read(each.listener.tls->key_file))
      findings.push_back(
          {Severity::kWarning, 0, format("listeners.{}.tls.keyFile", each.name),
           format("{} may be read by everybody on this machine",
                  printable(each.listener.tls->key_file)),
           "chmod 600 it; in a Secret's volume set defaultMode: 0440 and the pod's fsGroup"});
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
