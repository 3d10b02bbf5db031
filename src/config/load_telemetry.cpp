#include "config/load_telemetry.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "slackline/base/duration.h"
#include "slackline/base/text.h"
#include "wire/telemetry/telemetry_checks.h"

namespace slackline::config {
namespace {

constexpr double kShortestStep_s = 1;
constexpr double kLongestStep_s = 3600;
constexpr double kLongestLookBack_s = 24 * 3600;

void check_label(Section& section, std::string_view key, const std::string& name) {
  if (!wire::is_label_name(name))
    section.problem(key, format("has \"{}\"", printable(name, 64)),
                    "each must be the name of a label: letters, digits and _");
}

void read_labels(Section& section, std::string_view key, std::vector<std::string>& names) {
  section.texts(key, names);
  if (names.empty()) section.problem(key, "names no label", "name one, or leave the key out");
  for (const std::string& name : names)
    check_label(section, key, name);
}

void read_owners(Section& section, std::vector<OwnerLabels>& owners) {
  std::vector<OwnerLabels> groups;
  const auto read = [&groups](Section& item) {
    OwnerLabels group;
    for (const auto& [key, name] :
         {std::pair<std::string_view, std::string*>{"namespace", &group.ns},
          {"pod", &group.pod},
          {"container", &group.container}}) {
      item.text(key, *name);
      check_label(item, key, *name);
    }
    groups.push_back(std::move(group));
  };
  if (!section.sections("owners", read)) return;
  if (groups.empty())
    section.problem("owners", "names no labels", "name one group, or leave the key out");
  owners = std::move(groups);
}

void read_prometheus(Section& section, PrometheusSettings& prometheus) {
  section.text("url", prometheus.url);
  section.text("bearerTokenFile", prometheus.bearer_token_file);
  section.text("caFile", prometheus.ca_file);
  section.text("tenant", prometheus.tenant);
  section.text("tenantHeader", prometheus.tenant_header);
  section.duration("timeout", prometheus.timeout_s);
  if (const auto status = wire::check_tenant(prometheus); !status)
    section.problem("tenant", "cannot be sent", status.error().message);
  if (prometheus.tenant_header.empty())
    section.problem("tenantHeader", "is \"\"", "write X-Scope-OrgID, or what the server reads");
  if (prometheus.url.empty()) return;
  if (const auto status = wire::check_url(prometheus.url); !status)
    section.problem("url", "cannot be asked", status.error().message);
  const bool secret = !prometheus.bearer_token_file.empty();
  if (secret && prometheus.url.starts_with("http://"))
    section.warning("bearerTokenFile", "goes over the network in the clear",
                    "write https:// in url, or leave the token out");
}

}  // namespace

void read_telemetry(Section& section, TelemetrySettings& telemetry) {
  section.section("prometheus", [&](Section& s) { read_prometheus(s, telemetry.prometheus); });
  section.duration("step", telemetry.step_s);
  if (telemetry.step_s < kShortestStep_s || telemetry.step_s > kLongestStep_s ||
      telemetry.step_s != static_cast<double>(static_cast<int>(telemetry.step_s)))
    section.problem("step", format("is {}", format_duration(telemetry.step_s)),
                    "it must be 1s to 1h in whole seconds, at least two scrape intervals");
  section.duration("lookBack", telemetry.look_back_s, /*may_be_zero=*/true);
  if (telemetry.look_back_s < 0 || telemetry.look_back_s > kLongestLookBack_s)
    section.problem("lookBack", format("is {}", format_duration(telemetry.look_back_s)),
                    "it must be 0s to 24h");
  section.section("labels", [&](Section& s) {
    LabelNames& names = telemetry.labels;
    read_owners(s, names.owners);
    read_labels(s, "device", names.device);
    read_labels(s, "node", names.node);
    read_labels(s, "host", names.host);
    read_labels(s, "index", names.index);
    read_labels(s, "instance", names.instance);
    read_labels(s, "shared", names.shared);
  });
}

}  // namespace slackline::config
