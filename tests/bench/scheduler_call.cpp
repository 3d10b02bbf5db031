#include "bench/scheduler_call.h"

#include "slackline/base/text.h"

namespace slackline::bench {

std::string node_name(int index) {
  return format("gpu-node-{:05}.cluster.example.internal", index);
}

std::string scheduler_call(int names, int nodes) {
  std::string body =
      R"({"Pod":{"metadata":{"name":"train-0","namespace":"team-a","uid":"6f1c0d2e-0000-4000-8000-000000000001","annotations":{"slackline.dev/model":"resnet50","slackline.dev/batch-size":"128","slackline.dev/iterations":"20000"},"managedFields":[)";
  for (int i = 0; i < 40; ++i) {
    if (i > 0) body += ',';
    body +=
        R"({"manager":"kube-controller-manager","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","time":"2026-11-21T10:00:00Z"})";
  }
  body +=
      R"(]},"spec":{"schedulerName":"gpu-scheduler","priority":1,"containers":[{"name":"t","image":"registry.example/train:1","resources":{"limits":{"nvidia.com/gpu":"2"},"requests":{"cpu":"8","memory":"32Gi","nvidia.com/gpu":"2"}}}]},"status":{"phase":"Pending"}},"Nodes":null,"NodeNames":[)";
  for (int i = 0; i < names; ++i)
    body += format("{}\"{}\"", i > 0 ? "," : "", node_name((1000 + i) % nodes));
  return body + "]}";
}

}  // namespace slackline::bench
