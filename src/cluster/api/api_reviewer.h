// ApiReviewer: who asks us, and may they? Asked of the API server by a TokenReview and a
// SubjectAccessReview, as it does itself for what it serves.
//
// Thread-safe.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "cluster/watch/kube_source.h"
#include "slackline/base/result.h"
#include "slackline/model/admission.h"
#include "slackline/model/api_demand.h"

namespace slackline::cluster {

class ApiReviewer {
 public:
  virtual ~ApiReviewer() = default;
  // nullopt: the token is nobody's.
  virtual Result<std::optional<Requester>> who_is(const std::string& token) = 0;
  virtual Result<bool> may(const Requester& user, const ApiDemand& demand) = 0;
};

// Fails when the kubeconfig cannot be used.
Result<std::unique_ptr<ApiReviewer>> make_api_reviewer(const KubeAccess& access);

}  // namespace slackline::cluster
