#include "cluster/kube_writer.h"

#include <utility>
#include <variant>

#include "cluster/api_client.h"
#include "slackline/base/text.h"
#include "wire/binding_codec.h"
#include "wire/kube_decode.h"

namespace slackline::cluster {
namespace {

std::string pod_path(const ObjectKey& pod) {
  return format("/api/v1/namespaces/{}/pods/{}", path_segment(pod.ns), path_segment(pod.name));
}

class KubeWriter final : public ClusterWriter {
 public:
  KubeWriter(KubeEndpoint endpoint, GpuCatalog catalog)
      : client_(std::move(endpoint), system_clock()), catalog_(std::move(catalog)) {}

  Status bind(const BindingOrder& order) override {
    net::HttpRequest request;
    request.method = "POST";
    request.url = pod_path(order.pod) + "/binding";
    request.headers = {{"Content-Type", "application/json"}};
    request.body = wire::encode_binding(order.pod, order.uid, order.node, order.annotations);
    request.timeout_s = kWriteTimeout_s;
    if (const auto answer = client_.send(std::move(request)); !answer)
      return fail(answer.error().error().with_context(format("binding {}", order.pod.str())));
    return {};
  }

  Result<PodTruth> read_pod(const ObjectKey& pod) override {
    net::HttpRequest request;
    request.url = pod_path(pod);
    request.timeout_s = kReadBackTimeout_s;
    const auto answer = client_.send(std::move(request));
    if (!answer) return fail(answer.error().error().with_context(format("reading {}", pod.str())));
    wire::KubeDecoder decoder(catalog_);
    SLACKLINE_ASSIGN(const wire::KubeObject object,
                     decoder.object(wire::KubeKind::kPod, answer->body));
    const Pod& found = std::get<Pod>(object);
    return PodTruth{.uid = found.uid, .node = found.node, .deleting = found.deleting};
  }

 private:
  ApiClient client_;
  const GpuCatalog catalog_;
};

}  // namespace

Result<std::unique_ptr<ClusterWriter>> make_kube_writer(const KubeAccess& access,
                                                        GpuCatalog catalog) {
  SLACKLINE_ASSIGN(KubeEndpoint endpoint, find_endpoint(access));
  return std::make_unique<KubeWriter>(std::move(endpoint), std::move(catalog));
}

}  // namespace slackline::cluster
