#include "config/lint_extender.h"

#include <algorithm>
#include <array>
#include <vector>

#include "config/lint.h"
#include "slackline/base/duration.h"
#include "slackline/base/loopback.h"
#include "slackline/base/text.h"

namespace slackline::config {
namespace {

const wire::Document kNothing;

constexpr std::array<std::string_view, 12> kExtenderKeys = {
    "urlPrefix",   "filterVerb",       "preemptVerb",      "prioritizeVerb",
    "weight",      "bindVerb",         "enableHTTPS",      "tlsConfig",
    "httpTimeout", "nodeCacheCapable", "managedResources", "ignorable"};

// kube-scheduler decodes strictly and does not start with a key it does not know.
void lint_keys(const Lint& extender) {
  for (const auto& [key, value] : extender.map().fields)
    if (std::find(kExtenderKeys.begin(), kExtenderKeys.end(), key) == kExtenderKeys.end())
      extender.error(key, "is not a key of an extender: kube-scheduler will not start",
                     format("allowed: {}", fmt::join(kExtenderKeys, ", ")));
}

// Else bind writes what kube-scheduler itself would write, the pod's uid included.
bool bind_adds_something(const Configuration& configuration) {
  const std::vector<GpuResourceRule>& resources = configuration.gpus.resources;
  return configuration.mode == Mode::kActive ||
         std::any_of(resources.begin(), resources.end(),
                     [](const GpuResourceRule& rule) { return rule.self_accounted; });
}

void lint_verbs(const Lint& extender, bool ours, const Configuration& configuration) {
  if (!ours) return;
  struct VerbRule {
    std::string_view key;
    std::string_view name;
    std::string_view loss;
  };
  constexpr std::array<VerbRule, 4> kVerbs = {
      {{"filterVerb", "filter", "GPU types and held nodes are not respected"},
       {"prioritizeVerb", "prioritize", "nodes are not ranked by throughput and cost"},
       {"preemptVerb", "preempt", "preemption does not spare the work that would be lost"},
       {"bindVerb", "bind", "pods are not told their GPU type, and no share is booked"}}};
  for (const VerbRule& verb : kVerbs) {
    const std::string value = extender.text(verb.key);
    if (value.empty() && verb.name == "bind" && !bind_adds_something(configuration)) continue;
    if (value.empty())
      extender.warning(verb.key, format("is missing: {}", verb.loss),
                       format("set {}: {}", verb.key, verb.name));
    else if (value != verb.name)
      extender.error(verb.key,
                     format("is \"{}\", which Slackline does not serve", printable(value, 64)),
                     format("set {}: {}", verb.key, verb.name));
  }
  if (!extender.text("urlPrefix").ends_with(kExtenderPath))
    extender.error("urlPrefix",
                   format("does not end in {}, where Slackline serves its verbs", kExtenderPath),
                   format("append {} after host and port", kExtenderPath));
}

void lint_weight(const Lint& extender, bool ours) {
  if (extender.text("prioritizeVerb").empty()) return;
  const std::string text = extender.text("weight");
  const Result<std::int64_t> weight = parse_int(text);
  if (!weight || *weight <= 0)
    extender.error("weight",
                   "is missing or not > 0: kube-scheduler will not start with a prioritizeVerb",
                   format("set weight: {}", kLeastExtenderWeight));
  else if (ours && *weight < kLeastExtenderWeight)
    extender.warning(
        "weight",
        format("is {}: too small to outvote the in-tree scores, which sum to about {} weights",
               *weight, kLeastExtenderWeight),
        format("set weight: {}", kLeastExtenderWeight));
}

// kube-scheduler's own certificate. Off loopback Slackline requires one.
void lint_client_certificate(const Lint& extender, bool ours, const Configuration& configuration) {
  const Lint tls = extender.inside("tlsConfig");
  const bool certificate = tls.has("certFile") || tls.has("certData");
  const bool key = tls.has("keyFile") || tls.has("keyData");
  if (certificate != key)
    tls.error(certificate ? "certFile" : "keyFile",
              "is given without its counterpart: kube-scheduler will not start",
              "give certFile and keyFile");
  if (!ours || certificate || key || !extender.flag("enableHTTPS")) return;
  const auto& given = configuration.listeners.extender.tls;
  const bool demanded =
      !is_loopback_url(extender.text("urlPrefix")) || (given && !given->client_ca_file.empty());
  if (demanded)
    extender.error(extender.has("tlsConfig") ? "tlsConfig" : "enableHTTPS",
                   "has no client certificate: Slackline refuses every call, and GPU pods schedule "
                   "as stock",
                   "set tlsConfig.certFile and keyFile, in the cluster from the Secret "
                   "slackline-extender-client");
}

void lint_tls(const Lint& extender) {
  const std::string url = extender.text("urlPrefix");
  const bool https = extender.flag("enableHTTPS");
  const Lint tls = extender.inside("tlsConfig");
  if (https && !tls.has("caFile") && !tls.has("caData"))
    extender.error(extender.has("tlsConfig") ? "tlsConfig" : "enableHTTPS",
                   "TLS without a CA: kube-scheduler then verifies nothing",
                   "set tlsConfig.caFile to the CA of the extender's certificate");
  if (tls.flag("insecure"))
    tls.error("insecure", "switches off the verification of the certificate",
              "remove it and set caFile");
  if (https && url.starts_with("http://"))
    extender.error("urlPrefix", "is plain HTTP although enableHTTPS is true", "write https://");
  if (!https && url.starts_with("https://"))
    extender.warning("enableHTTPS",
                     "is not true although urlPrefix is https: tlsConfig may be ignored",
                     "set enableHTTPS: true and tlsConfig.caFile");
  if (!https && url.starts_with("http://") && !is_loopback_url(url))
    extender.error("urlPrefix",
                   "is plain HTTP over the network: anybody there can impersonate the extender",
                   "use https with enableHTTPS: true, or 127.0.0.1");
}

void lint_timeout(const Lint& extender, bool ours, double ours_s) {
  if (!extender.has("httpTimeout")) {
    extender.warning("httpTimeout", "is missing: a dead extender then costs 5 s in every cycle",
                     "set httpTimeout: 2s");
    return;
  }
  const std::string text = extender.text("httpTimeout");
  const Result<double> timeout_s = parse_duration_s(text);
  const bool go_reads_it = text.find_first_of("dw") == std::string::npos;  // no days, no weeks
  if (!timeout_s || !go_reads_it)
    extender.error("httpTimeout", format("is \"{}\", which is not a duration", printable(text, 64)),
                   "set httpTimeout: 2s");
  else if (*timeout_s == 0)
    extender.warning("httpTimeout", "is 0, which means 5 s", "set httpTimeout: 2s");
  else if (*timeout_s < kShortestHttpTimeout_s)
    extender.warning("httpTimeout",
                     format("is {}: a bind waits for the API server and is cut off by it", text),
                     "set httpTimeout: 2s");
  else if (*timeout_s > kLongestHttpTimeout_s)
    extender.warning(
        "httpTimeout",
        format("is {}: one scheduling cycle waits that long for a dead extender", text),
        "set httpTimeout: 2s");
  else if (ours && *timeout_s != ours_s)
    extender.warning("httpTimeout",
                     format("is {}, Slackline's configuration says {}s: Slackline gives up a call "
                            "at the wrong time",
                            text, ours_s),
                     "set extender.httpTimeout in Slackline's configuration to the same");
}

void lint_failing_open(const Lint& extender, const std::vector<ManagedResource>& managed) {
  const bool ignorable = extender.flag("ignorable");
  const bool ignored_resource =
      std::any_of(managed.begin(), managed.end(),
                  [](const ManagedResource& r) { return r.ignored_by_scheduler; });
  if (ignorable && ignored_resource && !extender.text("bindVerb").empty())
    extender.error(
        "ignorable",
        "is true, with a bindVerb and a resource that the scheduler ignores: when the extender "
        "fails, pods are bound without an allocation",
        "set ignorable: false, or count the resource in the scheduler");
  if (!ignorable && !ignored_resource)
    extender.warning("ignorable",
                     "is not true: while the extender is down, no managed pod is scheduled",
                     "set ignorable: true; nothing is lost, the scheduler counts the GPUs itself");
}

void lint_name(const ManagedResource& resource, Findings& findings) {
  const bool pattern = resource.name.find_first_of("*?") != std::string::npos;
  const bool native = resource.name.find('/') == std::string::npos ||
                      resource.name.find("kubernetes.io/") != std::string::npos;
  if (pattern || native)
    findings.push_back(
        {Severity::kError, resource.line, resource.path + ".name",
         format("\"{}\" is {}: kube-scheduler will not start", printable(resource.name, 64),
                pattern ? "a pattern" : "no extended resource"),
         "name extended resources one by one, e.g. nvidia.com/gpu"});
}

// The meaning of each managed resource in Slackline's configuration.
void lint_accounting(const ManagedResource& resource, const GpuCatalog& gpus, Findings& findings) {
  const GpuResourceRule* rule = gpus.resource(resource.name);
  const auto add = [&](Severity severity, std::string problem, std::string remedy) {
    findings.push_back(
        {severity, resource.line, resource.path, std::move(problem), std::move(remedy)});
  };
  if (rule == nullptr)
    add(Severity::kWarning,
        format(
            "{} is not a GPU resource in Slackline's configuration: every node passes for its pods",
            printable(resource.name, 64)),
        "add it to gpus.resources, or remove it here");
  else if (resource.ignored_by_scheduler && rule->sharing == GpuSharing::kWhole)
    add(Severity::kError,
        format("ignoredByScheduler is true for whole GPUs ({}): nobody counts them while Slackline "
               "is down, and preemption never happens",
               resource.name),
        "set ignoredByScheduler: false");
  else if (resource.ignored_by_scheduler && !rule->self_accounted)
    add(Severity::kError,
        format("ignoredByScheduler is true, but Slackline does not count {} either", resource.name),
        "set selfAccounted: true in Slackline's gpus.resources, or ignoredByScheduler: false");
  else if (!resource.ignored_by_scheduler && rule->self_accounted)
    add(Severity::kWarning,
        format("{} is counted twice: Slackline's configuration says selfAccounted", resource.name),
        "set ignoredByScheduler: true, or selfAccounted: false in Slackline's configuration");
}

void lint_resources(const Lint& extender, const std::vector<ManagedResource>& managed,
                    const GpuCatalog& gpus) {
  if (managed.empty()) {
    extender.warning("managedResources",
                     "is missing: every pod of the cluster waits for the extender",
                     "list the GPU resources, e.g. name: nvidia.com/gpu");
    return;
  }
  bool any = false;
  for (const ManagedResource& resource : managed) {
    lint_accounting(resource, gpus, extender.findings());
    any = any || gpus.resource(resource.name) != nullptr;
  }
  if (!any)
    extender.error("managedResources",
                   "names none of the configured GPU resources: no GPU pod is sent here",
                   "list the GPU resources, e.g. name: nvidia.com/gpu");
}

}  // namespace

bool Lint::has(std::string_view key) const {
  const wire::Document* value = map_.find(key);
  return value != nullptr && value->kind != wire::Document::Kind::kNull;
}

std::string Lint::text(std::string_view key) const {
  const wire::Document* value = map_.find(key);
  return value == nullptr ? std::string() : value->scalar;
}

std::string Lint::path_of(std::string_view key) const {
  return path_.empty() ? printable(key, 64) : format("{}.{}", path_, printable(key, 64));
}

Lint Lint::inside(std::string_view key) const {
  const wire::Document* value = map_.find(key);
  return Lint(value == nullptr ? kNothing : *value, path_of(key), findings_);
}

void Lint::add(Severity severity, std::string_view key, std::string problem,
               std::string remedy) const {
  const wire::Document* value = map_.find(key);
  findings_.push_back({severity, value == nullptr ? map_.line : value->line, path_of(key),
                       std::move(problem), std::move(remedy)});
}

void Lint::error(std::string_view key, std::string problem, std::string remedy) const {
  add(Severity::kError, key, std::move(problem), std::move(remedy));
}

void Lint::warning(std::string_view key, std::string problem, std::string remedy) const {
  add(Severity::kWarning, key, std::move(problem), std::move(remedy));
}

std::vector<ManagedResource> managed_resources(const Lint& extender) {
  std::vector<ManagedResource> resources;
  const wire::Document* list = extender.find("managedResources");
  if (list == nullptr) return resources;
  for (std::size_t i = 0; i < list->items.size(); ++i) {
    const std::string path = format("{}.managedResources[{}]", extender.path(), i);
    const Lint item(list->items[i], path, extender.findings());
    resources.push_back(
        {item.text("name"), item.flag("ignoredByScheduler"), path, list->items[i].line});
  }
  return resources;
}

void lint_extender(const Lint& extender, bool ours, const Configuration& configuration) {
  const std::vector<ManagedResource> managed = managed_resources(extender);
  lint_keys(extender);
  lint_verbs(extender, ours, configuration);
  lint_weight(extender, ours);
  lint_tls(extender);
  lint_client_certificate(extender, ours, configuration);
  lint_timeout(extender, ours, configuration.extender.http_timeout_s);
  lint_failing_open(extender, managed);
  for (const ManagedResource& resource : managed)
    lint_name(resource, extender.findings());
  if (ours) lint_resources(extender, managed, configuration.gpus);
  if (!extender.flag("nodeCacheCapable"))
    extender.error(
        "nodeCacheCapable",
        "is not true: from 1.34 on every node that passes is scored as if it were empty, and "
        "each call carries whole Node objects",
        "set nodeCacheCapable: true");
}

}  // namespace slackline::config
