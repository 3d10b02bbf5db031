#include <algorithm>
#include <tuple>

#include "slackline/base/quantity.h"
#include "wire/kube/kube_common.h"
#include "wire/kube/object_decode.h"

namespace slackline::wire {
namespace {

// The name of the limited resource; empty: Slackline does not count it.
std::string_view accounted(std::string_view key) {
  constexpr std::string_view kRequests = "requests.";
  for (const std::string_view same : {"pods", "count/pods", "cpu", "memory", "ephemeral-storage"})
    if (key == same) return key;
  if (!key.starts_with(kRequests)) return {};
  const std::string_view name = key.substr(kRequests.size());
  const bool known = name == "cpu" || name == "memory" || is_other_resource(name);
  return known ? name : std::string_view();
}

// Where a quota has one of these, each container must state it.
bool is_demanded(std::string_view key) {
  return key == "cpu" || key == "memory" || key == "requests.cpu" || key == "requests.memory" ||
         key == "limits.cpu" || key == "limits.memory";
}

std::optional<std::int64_t> amount(JsonView value, std::string_view resource) {
  const auto parsed =
      resource == "cpu" ? parse_quantity_milli(value.text()) : parse_quantity(value.text());
  return parsed ? std::optional(*parsed) : std::nullopt;
}

void read_scope(std::string_view scope, ResourceQuota& quota) {
  (scope == "NotBestEffort" ? quota.needs_cpu_or_memory : quota.other_scopes) = true;
}

// `read` takes a value and the name of its resource.
template <class Read>
std::vector<NamedAmount> read_amounts(JsonView map, const GpuCatalog& catalog, const Read& read) {
  std::vector<NamedAmount> amounts;
  for (const auto& [key, value] : map.fields()) {
    const bool counted = key == "cpu" || key == "memory" || catalog.resource(key) != nullptr;
    const auto found = read(value, key);
    if (counted && found) amounts.push_back({std::string(key), *found});
  }
  return amounts;
}

}  // namespace

LimitRange read_limit_range(JsonView json, const GpuCatalog& catalog) {
  LimitRange range;
  range.uid = read_uid(json["metadata"]);
  range.key = read_key(json["metadata"]);
  for (const JsonView limit : json["spec"]["limits"].items()) {
    const std::string_view type = limit["type"].text();
    if (type != "Container" && type != "Pod") continue;
    const auto read = [&](const char* field) {
      return read_amounts(limit[field], catalog, amount);
    };
    const auto thousandths = [](JsonView value, std::string_view) {
      return parse_quantity_milli(value.text());
    };
    range.items.push_back({type == "Pod", read("defaultRequest"), read("default"), read("min"),
                           read("max"),
                           read_amounts(limit["maxLimitRequestRatio"], catalog, thousandths)});
  }
  return range;
}

ResourceQuota read_quota(JsonView json) {
  const JsonView spec = json["spec"];
  const JsonView used = json["status"]["used"];
  ResourceQuota quota;
  quota.uid = read_uid(json["metadata"]);
  quota.key = read_key(json["metadata"]);
  for (const auto& [key, value] : spec["hard"].fields()) {
    if (is_demanded(key)) quota.must_state.emplace_back(key);
    const std::string_view resource = accounted(key);
    const auto hard = amount(value, resource);
    if (resource.empty() || !hard) continue;
    quota.limits.push_back({std::string(resource), *hard, amount(used[key], resource).value_or(0)});
  }
  std::sort(quota.must_state.begin(), quota.must_state.end());
  const auto order = [](const QuotaLimit& limit) {
    return std::tie(limit.resource, limit.hard, limit.used);
  };
  std::sort(quota.limits.begin(), quota.limits.end(),
            [&](const QuotaLimit& a, const QuotaLimit& b) { return order(a) < order(b); });
  for (const JsonView scope : spec["scopes"].items())
    read_scope(scope.text(), quota);
  // NotBestEffort takes no operator but Exists.
  for (const JsonView scope : spec["scopeSelector"]["matchExpressions"].items())
    read_scope(scope["scopeName"].text(), quota);
  return quota;
}

}  // namespace slackline::wire
