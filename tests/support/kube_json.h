// Kubernetes objects as an API server sends them, as short as the tests need. "@RV@" stands where
// the fake API server puts the resourceVersion.
#pragma once

#include <string>

#include "slackline/base/text.h"

namespace slackline::test {

inline std::string node_json(const std::string& name, int gpus) {
  return format(R"({{"kind":"Node","apiVersion":"v1","metadata":{{"name":"{0}","uid":"node-{0}",)"
                R"("resourceVersion":"@RV@"}},"status":{{"allocatable":{{"cpu":"64",)"
                R"("memory":"256Gi","pods":"110","nvidia.com/gpu":"{1}"}}}}}})",
                name, gpus);
}

// In the namespace "ml"; an empty node leaves it unbound.
inline std::string pod_json(const std::string& name, const std::string& node = "", int gpus = 1,
                            const std::string& phase = "Pending") {
  const std::string bound = node.empty() ? "" : format(R"("nodeName":"{}",)", node);
  return format(R"({{"kind":"Pod","apiVersion":"v1","metadata":{{"name":"{0}","namespace":"ml",)"
                R"("uid":"pod-{0}","resourceVersion":"@RV@"}},"spec":{{{1}"containers":[{{)"
                R"("name":"c","resources":{{"requests":{{"nvidia.com/gpu":"{2}"}}}}}}]}},)"
                R"("status":{{"phase":"{3}"}}}})",
                name, bound, gpus, phase);
}

inline std::string job_json(const std::string& name, bool suspended = false) {
  return format(
      R"({{"kind":"Job","apiVersion":"batch/v1","metadata":{{"name":"{0}",)"
      R"("namespace":"ml","uid":"job-{0}","resourceVersion":"@RV@"}},)"
      R"("spec":{{"suspend":{1},"template":{{"spec":{{"containers":[{{"name":"c"}}]}}}}}},)"
      R"("status":{{}}}})",
      name, suspended);
}

}  // namespace slackline::test
