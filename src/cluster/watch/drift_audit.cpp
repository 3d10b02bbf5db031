#include "cluster/watch/drift_audit.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "cluster/watch/lister.h"
#include "obs/log.h"

namespace slackline::cluster {
namespace {

std::optional<std::uint64_t> value_at(const Fingerprints& of, const std::string& key) {
  const auto at = of.find(key);
  if (at == of.end()) return std::nullopt;
  return at->second;
}

}  // namespace

std::vector<std::string> differences(const Fingerprints& truth, const Fingerprints& cached) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : truth)
    if (value_at(cached, key) != value) keys.push_back(key);
  for (const auto& [key, value] : cached)
    if (!truth.contains(key)) keys.push_back(key);
  std::sort(keys.begin(), keys.end());
  return keys;
}

DriftAudit::DriftAudit(ApiClient& client, const Cache& cache, obs::MetricsRegistry& metrics,
                       const KubeOptions& options, const GpuCatalog& catalog,
                       std::function<void(wire::KubeKind)> relist)
    : client_(client),
      cache_(cache),
      options_(options),
      decoder_(catalog),
      relist_(std::move(relist)) {
  for (const ResourceSpec& resource : kResources)
    drift_.push_back(metrics.counter("slackline_cache_drift_total", {{"resource", resource.name}}));
}

DriftAudit::~DriftAudit() {
  stop();
  join();
}

void DriftAudit::start() {
  if (options_.audit_every_s > 0) worker_.start([this] { run(); });
}

void DriftAudit::stop() {
  worker_.stop();
  interrupt_.interrupt();
}

void DriftAudit::run() {
  while (worker_.wait(options_.audit_every_s)) {
    if (!cache_.synced()) continue;
    for (const ResourceSpec& resource : kResources)
      audit(resource);
  }
}

std::optional<DriftAudit::Look> DriftAudit::look(const ResourceSpec& resource) {
  Look look;
  const auto listed = list_all(
      client_, decoder_, resource,
      {.page_size = options_.page_size,
       .timeout_s = options_.timers.request_timeout_s,
       .interrupt = &interrupt_},
      [&](const wire::KubeObject& object) { add_fingerprint(look.truth, object); }, [] {});
  if (!listed) return std::nullopt;  // the reflector reports the error
  look.cached = cache_.fingerprints(resource.kind);
  return look;
}

void DriftAudit::audit(const ResourceSpec& resource) {
  const auto first = look(resource);
  if (!first) return;
  const auto suspects = differences(first->truth, first->cached);
  if (suspects.empty() || !worker_.wait(options_.audit_settle_s)) return;
  const auto second = look(resource);
  if (!second) return;
  std::int64_t drifted = 0;
  std::string example;
  for (const std::string& key : suspects) {
    const auto truth = value_at(second->truth, key);
    const auto cached = value_at(second->cached, key);
    if (truth == cached || truth != value_at(first->truth, key) ||
        cached != value_at(first->cached, key))
      continue;
    if (drifted++ == 0) example = key;
  }
  if (drifted == 0) return;
  drift_[index_of(resource.kind)].add(static_cast<double>(drifted));
  obs::log_error("cache_drift",
                 {{"resource", resource.name}, {"objects", drifted}, {"example", example}});
  relist_(resource.kind);
}

}  // namespace slackline::cluster
