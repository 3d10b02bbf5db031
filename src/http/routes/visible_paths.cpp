#include "http/routes/visible_paths.h"

#include "slackline/base/dns_name.h"
#include "slackline/base/text.h"

namespace slackline::http {
namespace {

constexpr std::string_view kRest = "/v1/";

struct Target {
  std::vector<std::string_view> segments;
  std::string query;
};

Target parts_of(std::string_view target) {
  const std::size_t question = target.find('?');
  Target out{split(target.substr(0, question), '/'), {}};
  if (question != std::string_view::npos) out.query = target.substr(question + 1);
  return out;
}

const VisibleResource* find_resource(std::string_view name) {
  for (const VisibleResource& resource : visible_resources())
    if (resource.name == name) return &resource;
  return nullptr;
}

bool may_be_asked(const VisibleResource* resource, std::string_view method, std::size_t further) {
  if (resource == nullptr) return false;
  if (method == "GET" || method == "HEAD") return true;
  return method == "POST" && resource->takes_manifests && further == 0;
}

// Of these a GET is about one pod.
bool is_of_a_pod(std::string_view resource) {
  return resource == "scores" || resource == "decisions";
}

std::string joined(const std::vector<std::string_view>& segments, std::size_t from) {
  std::string out;
  for (std::size_t i = from; i < segments.size(); ++i)
    out.append(1, '/').append(segments[i]);
  return out;
}

std::string with_query(std::string path, std::string_view first, std::string_view rest) {
  for (const std::string_view part : {first, rest}) {
    if (part.empty()) continue;
    path += path.find('?') == std::string::npos ? '?' : '&';
    path += part;
  }
  return path;
}

// `segments`: the resource and what follows it.
std::optional<std::string> rest_in_namespace(std::string_view ns, std::string_view method,
                                             const std::vector<std::string_view>& segments,
                                             std::string_view query) {
  const std::string_view resource = segments[0];
  if (resource == "tasks" && segments.size() > 1)
    return with_query(format("/v1/tasks/{}{}", ns, joined(segments, 1)), {}, query);
  const std::string path = "/v1" + joined(segments, 0);
  if (method == "POST" || !is_of_a_pod(resource))
    return with_query(path, format("namespace={}", ns), query);
  if (segments.size() != 2 || !is_dns_subdomain(segments[1])) return std::nullopt;
  return with_query(format("/v1/{}", resource), format("pod={}/{}", ns, segments[1]), query);
}

// Takes the parameter out of the query.
std::string take(std::string_view name, std::string& query) {
  std::string rest;
  std::string value;
  for (const std::string_view pair : split(query, '&')) {
    if (value.empty() && pair.starts_with(format("{}=", name)))
      value = pair.substr(name.size() + 1);
    else
      rest.append(rest.empty() ? "" : "&").append(pair);
  }
  query = rest;
  return value;
}

}  // namespace

const std::vector<VisibleResource>& visible_resources() {
  static const std::vector<VisibleResource> kAll = {
      {.name = "tasks", .namespaced = true},
      {.name = "queue", .namespaced = true},
      {.name = "history", .namespaced = true},
      {.name = "reports", .namespaced = true},
      {.name = "portraits", .namespaced = true},
      {.name = "scores", .namespaced = true, .takes_manifests = true},
      {.name = "decisions", .namespaced = true},
      {.name = "calendar", .namespaced = true},
      {.name = "whatif", .namespaced = true},
      {.name = "quote", .namespaced = true, .takes_manifests = true},
      {.name = "nodes"},
      {.name = "shares"},
      {.name = "cluster"},
      {.name = "models"},
      {.name = "readyz", .path = "/readyz"},
      {.name = "metrics", .path = "/metrics"},
      {.name = "openapi", .path = "/openapi.json"},
  };
  return kAll;
}

std::optional<std::string> rest_target(std::string_view method, std::string_view target) {
  const std::string root = format("{}/", kVisibilityRoot);
  if (!target.starts_with(root)) return std::nullopt;
  Target asked = parts_of(target.substr(root.size()));
  std::string_view ns;
  if (asked.segments[0] == "namespaces") {
    if (asked.segments.size() < 3 || !is_dns_label(asked.segments[1])) return std::nullopt;
    ns = asked.segments[1];
    asked.segments.erase(asked.segments.begin(), asked.segments.begin() + 2);
  }
  const VisibleResource* const resource = find_resource(asked.segments[0]);
  const std::size_t further = asked.segments.size() - 1;
  if (!may_be_asked(resource, method, further)) return std::nullopt;
  if (!ns.empty()) {
    if (!resource->namespaced) return std::nullopt;
    return rest_in_namespace(ns, method, asked.segments, asked.query);
  }
  if (resource->path != "/v1")
    return further == 0 ? std::optional(with_query(std::string(resource->path), {}, asked.query))
                        : std::nullopt;
  // Of one task the namespace is part of the right.
  if (resource->name == "tasks" && further > 0) return std::nullopt;
  return with_query("/v1" + joined(asked.segments, 0), {}, asked.query);
}

std::optional<std::string> visible_target(std::string_view method, std::string_view rest) {
  const std::string_view path = rest.substr(0, rest.find('?'));
  for (const VisibleResource& resource : visible_resources())
    if (resource.path == path && method == "GET")
      return format("{}/{}{}", kVisibilityRoot, resource.name, rest.substr(path.size()));
  if (!rest.starts_with(kRest)) return std::nullopt;
  Target asked = parts_of(rest.substr(kRest.size()));
  const std::string_view resource_name = asked.segments[0];
  const VisibleResource* const resource = find_resource(resource_name);
  if (!may_be_asked(resource, method, asked.segments.size() - 1)) return std::nullopt;
  std::string root(kVisibilityRoot);
  if (resource_name == "tasks" && asked.segments.size() > 2)
    return with_query(
        format("{}/namespaces/{}/tasks{}", root, asked.segments[1], joined(asked.segments, 2)), {},
        asked.query);
  if (!resource->namespaced) return with_query(root + joined(asked.segments, 0), {}, asked.query);
  std::string tail;
  std::string ns;
  if (method == "GET" && is_of_a_pod(resource_name)) {
    const std::string pod = take("pod", asked.query);
    const std::size_t slash = pod.find('/');
    ns = pod.substr(0, slash);
    if (slash != std::string::npos) tail = pod.substr(slash);
  } else {
    ns = take("namespace", asked.query);
  }
  if (!ns.empty()) root += format("/namespaces/{}", ns);
  return with_query(root + joined(asked.segments, 0) + tail, {}, asked.query);
}

}  // namespace slackline::http
