// The request of a pod, computed as Kubernetes computes it (component-helpers,
// resource.PodRequests):
//
//   running = sum over containers and sidecars (init containers with restartPolicy Always)
//   init    = max over init containers of itself plus the sidecars started before it
//   request = max(running, init), pod-level resources instead where given, plus overhead
//
// A request that is absent is its limit, as the API server's defaulting has it.
#include "slackline/base/text.h"
#include "wire/kube/kube_common.h"
#include "wire/kube/object_decode.h"

namespace slackline::wire {
namespace {

Resources container_request(JsonView container, std::string_view path, ResourceReader& reader) {
  const JsonView resources = container["resources"];
  if (!resources.present()) return {};
  Resources request;
  // Limits first, then what is requested replaces them. A GPU limit without a request is the rule.
  reader.apply(resources["limits"], format("{}.resources.limits", path), request);
  reader.apply(resources["requests"], format("{}.resources.requests", path), request);
  return request;
}

}  // namespace

Resources read_pod_requests(JsonView spec, const GpuCatalog& catalog,
                            std::vector<std::string>& problems) {
  ResourceReader reader(catalog, problems);
  Resources running;
  std::size_t index = 0;
  for (const JsonView container : spec["containers"].items())
    running = add_capped(
        running, container_request(container, format("spec.containers[{}]", index++), reader));

  Resources sidecars;
  Resources init;
  index = 0;
  for (const JsonView container : spec["initContainers"].items()) {
    const Resources own =
        container_request(container, format("spec.initContainers[{}]", index++), reader);
    if (container["restartPolicy"].text() == "Always") {
      running = add_capped(running, own);
      sidecars = add_capped(sidecars, own);
      init = max_of(init, sidecars);
    } else {
      init = max_of(init, add_capped(sidecars, own));
    }
  }

  Resources request = max_of(running, init);
  const JsonView pod_level = spec["resources"];
  reader.apply(pod_level["limits"], "spec.resources.limits", request,
               ResourceReader::Existing::kKeep);
  reader.apply(pod_level["requests"], "spec.resources.requests", request);
  Resources overhead;
  reader.apply(spec["overhead"], "spec.overhead", overhead);
  request = add_capped(request, overhead);
  request.pods = 1;
  return request;
}

}  // namespace slackline::wire
