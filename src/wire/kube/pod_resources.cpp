#include "slackline/base/text.h"
#include "wire/kube/kube_common.h"
#include "wire/kube/object_decode.h"

namespace slackline::wire {
namespace {

// What is no amount counts as 0 too.
bool has_zero(JsonView list, const Resources& read) {
  return (list["cpu"].present() && read.cpu_milli == 0) ||
         (list["memory"].present() && read.memory_bytes == 0);
}

ContainerAsk read_container(JsonView container, ContainerAsk::Kind kind, std::string_view path,
                            ResourceReader& reader) {
  const JsonView resources = container["resources"];
  ContainerAsk ask;
  ask.kind = kind;
  if (!resources.present()) return ask;
  reader.apply(resources["limits"], format("{}.resources.limits", path), ask.limits);
  // What is requested replaces limits. A GPU limit without a request is the rule.
  ask.requests = ask.limits;
  reader.apply(resources["requests"], format("{}.resources.requests", path), ask.requests);
  ask.zero =
      has_zero(resources["limits"], ask.limits) || has_zero(resources["requests"], ask.requests);
  return ask;
}

}  // namespace

PodAsk read_pod_ask(JsonView spec, const GpuCatalog& catalog, std::vector<std::string>& problems) {
  using Kind = ContainerAsk::Kind;
  ResourceReader reader(catalog, problems);
  PodAsk ask;
  std::size_t index = 0;
  for (const JsonView container : spec["containers"].items())
    ask.containers.push_back(
        read_container(container, Kind::kMain, format("spec.containers[{}]", index++), reader));
  index = 0;
  for (const JsonView container : spec["initContainers"].items()) {
    const bool stays = container["restartPolicy"].text() == "Always";
    ask.containers.push_back(read_container(container, stays ? Kind::kSidecar : Kind::kInit,
                                            format("spec.initContainers[{}]", index++), reader));
  }
  const JsonView pod_level = spec["resources"];
  reader.apply(pod_level["limits"], "spec.resources.limits", ask.level_limits);
  reader.apply(pod_level["requests"], "spec.resources.requests", ask.level_requests);
  reader.apply(spec["overhead"], "spec.overhead", ask.overhead);
  return ask;
}

Resources read_pod_requests(JsonView spec, const GpuCatalog& catalog,
                            std::vector<std::string>& problems) {
  return requests_of(read_pod_ask(spec, catalog, problems));
}

}  // namespace slackline::wire
