// AdmissionReviews as kube-apiserver 1.36.3 sends them, cut to what matters.
#pragma once

#include <string>

#include "slackline/base/text.h"

namespace slackline::test {

struct ReviewText {
  std::string operation = "CREATE";
  std::string user = "jane";
  std::string metadata = R"("annotations":{"slackline.dev/model":"resnet50"})";
  std::string spec = R"("parallelism":1,"completions":1,"suspend":false)";
  std::string template_metadata;
  std::string pod_spec = R"("schedulerName":"default-scheduler")";
  std::string container;  // further members, with a comma before them
  std::string old_object = "null";
};

inline std::string pod_spec_text(const ReviewText& text) {
  return "{" + text.pod_spec +
         R"(,"containers":[{"name":"train","image":"busybox","resources":{"limits":{"nvidia.com/gpu":"2"},"requests":{"nvidia.com/gpu":"2"}})" +
         text.container + "}]}";
}

inline std::string job_text(const ReviewText& text) {
  return R"({"kind":"Job","apiVersion":"batch/v1","metadata":{"name":"train","namespace":"team-a",)" +
         text.metadata + R"(},"spec":{)" + text.spec + R"(,"template":{"metadata":{)" +
         text.template_metadata + R"(},"spec":)" + pod_spec_text(text) + R"(}},"status":{}})";
}

inline std::string pod_text(const ReviewText& text) {
  return R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"train-0","namespace":"team-a",)" +
         text.metadata + R"(},"spec":)" + pod_spec_text(text) + R"(,"status":{"phase":"Pending"}})";
}

inline std::string review_text(const ReviewText& text, const std::string& group,
                               const std::string& kind, const std::string& object) {
  const std::string gvk = R"({"group":")" + group + R"(","version":"v1","kind":")" + kind + R"("})";
  return R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{"uid":"705ab4f5-6393-11e8-b7cc-42010a800002","kind":)" +
         gvk + R"(,"requestKind":)" + gvk +
         R"(,"name":"train","namespace":"team-a","operation":")" + text.operation +
         R"(","userInfo":{"username":")" + text.user +
         R"(","uid":"u-1","groups":["team-a","system:authenticated"],"extra":{"scopes":["a","b"]}},"object":)" +
         object + R"(,"oldObject":)" + text.old_object +
         R"(,"dryRun":false,"options":{"kind":"CreateOptions","apiVersion":"meta.k8s.io/v1"}}})";
}

inline std::string job_review_text(const ReviewText& text = {}) {
  return review_text(text, "batch", "Job", job_text(text));
}

inline std::string pod_review_text(const ReviewText& text = {}) {
  return review_text(text, "", "Pod", pod_text(text));
}

}  // namespace slackline::test
