#include "cluster/kube_writer.h"

#include <utility>

#include "cluster/api_client.h"
#include "slackline/base/text.h"
#include "wire/binding_codec.h"

namespace slackline::cluster {
namespace {

std::string pod_path(const ObjectKey& pod) {
  return format("/api/v1/namespaces/{}/pods/{}", path_segment(pod.ns), path_segment(pod.name));
}

class KubeWriter final : public ClusterWriter {
 public:
  explicit KubeWriter(KubeEndpoint endpoint) : client_(std::move(endpoint), system_clock()) {}

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
    SLACKLINE_ASSIGN(const wire::PodTruthDto found, wire::decode_pod_truth(answer->body));
    return PodTruth{.uid = found.uid, .node = found.node, .deleting = found.deleting};
  }

 private:
  ApiClient client_;
};

}  // namespace

Result<std::unique_ptr<ClusterWriter>> make_kube_writer(const KubeAccess& access) {
  SLACKLINE_ASSIGN(KubeEndpoint endpoint, find_endpoint(access));
  return std::make_unique<KubeWriter>(std::move(endpoint));
}

}  // namespace slackline::cluster
