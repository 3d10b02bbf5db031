// Bodies as kube-scheduler 1.36 writes them (Go's encoding/json of the API types: CamelCase at the
// top, Kubernetes names inside, explicit nulls).
#pragma once

#include <string>

namespace slackline::wire {

inline std::string pod_document() {
  return R"({"metadata":{"name":"bert-7-worker-0","generateName":"bert-7-worker-","namespace":"team-a",)"
         R"("uid":"6f1c9a52-0b6e-4a43-a1c5-7b5d6a3c2f11","resourceVersion":"48211","generation":1,)"
         R"("creationTimestamp":"2026-11-21T09:58:03Z","labels":{"app":"bert","slackline.dev/managed":"true"},)"
         R"("annotations":{"slackline.dev/deadline":"2026-11-21T12:00:00Z","slackline.dev/gpu-types":"A100,V100",)"
         R"("slackline.dev/model":"bert"},"ownerReferences":[{"apiVersion":"batch/v1","kind":"Job",)"
         R"("name":"bert-7","uid":"0b1d","controller":true,"blockOwnerDeletion":true}],)"
         R"("managedFields":[{"manager":"kube-controller-manager","operation":"Update","apiVersion":"v1",)"
         R"("time":"2026-11-21T09:58:03Z","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:labels":{}}}}]},)"
         R"("spec":{"volumes":[{"name":"kube-api-access-x","projected":{"sources":[{"serviceAccountToken":)"
         R"({"expirationSeconds":3607,"path":"token"}}],"defaultMode":420}}],"containers":[{"name":"t",)"
         R"("image":"registry.example/train:7","env":[{"name":"A","value":"\u003cb\u003e \u0026 c"}],"resources":)"
         R"({"limits":{"cpu":"8","memory":"64Gi","nvidia.com/gpu":"4"},"requests":{"cpu":"8","memory":"64Gi",)"
         R"("nvidia.com/gpu":"4"}},"terminationMessagePath":"/dev/termination-log","imagePullPolicy":"IfNotPresent"}],)"
         R"("restartPolicy":"Never","terminationGracePeriodSeconds":30,"dnsPolicy":"ClusterFirst",)"
         R"("serviceAccountName":"default","securityContext":{},"schedulerName":"gpu-scheduler","tolerations":)"
         R"([{"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute","tolerationSeconds":300}],)"
         R"("priority":7,"enableServiceLinks":true,"preemptionPolicy":"PreemptLowerPriority"},)"
         R"("status":{"phase":"Pending","conditions":[{"type":"PodScheduled","status":"False",)"
         R"("lastProbeTime":null,"lastTransitionTime":"2026-11-21T09:58:03Z","reason":"Unschedulable"}],)"
         R"("qosClass":"Guaranteed"}})";
}

inline std::string node_document(const std::string& name) {
  return R"({"metadata":{"name":")" + name + R"(","uid":"n-)" + name +
         R"(","creationTimestamp":"2026-11-01T00:00:00Z","labels":{"kubernetes.io/hostname":")" +
         name +
         R"(","nvidia.com/gpu.product":"NVIDIA-A100-SXM4-80GB"}},"spec":{"podCIDR":"10.0.1.0/24"},"status":)"
         R"({"capacity":{"cpu":"128","nvidia.com/gpu":"8","pods":"110"},"allocatable":{"cpu":"127",)"
         R"("memory":"1000Gi","nvidia.com/gpu":"8","pods":"110"},"conditions":[{"type":"Ready","status":"True",)"
         R"("lastHeartbeatTime":"2026-11-21T09:58:00Z","lastTransitionTime":"2026-11-01T00:00:10Z"}],)"
         R"("daemonEndpoints":{"kubeletEndpoint":{"Port":10250}},"nodeInfo":{"kubeletVersion":"v1.36.3"}}})";
}

inline std::string names_body() {
  return R"({"Pod":)" + pod_document() +
         R"(,"Nodes":null,"NodeNames":["a100-01","a100-02","v100-01","v100-02"]})";
}

inline std::string full_body() {
  return R"({"Pod":)" + pod_document() +
         R"(,"Nodes":{"metadata":{"resourceVersion":""},"items":[)" + node_document("a100-01") +
         "," + node_document("a100-02") + "," + node_document("v100-01") + "," +
         node_document("v100-02") + R"(]},"NodeNames":null})";
}

inline std::string preempt_body() {
  return R"({"Pod":)" + pod_document() +
         R"(,"NodeNameToVictims":null,"NodeNameToMetaVictims":{"a100-01":{"Pods":[{"UID":"u1"},)"
         R"({"UID":"u2"}],"NumPDBViolations":0},"a100-02":{"Pods":[{"UID":"u3"}],"NumPDBViolations":1}}})";
}

inline std::string bind_body() {
  return R"({"PodName":"bert-7-worker-0","PodNamespace":"team-a","PodUID":"6f1c","Node":"a100-01"})";
}

}  // namespace slackline::wire
