// AccessReviewer: may this user do that? Asked of the API server by a SubjectAccessReview.
//
// Thread-safe.
#pragma once

#include <memory>
#include <string>

#include "cluster/watch/kube_source.h"
#include "slackline/base/result.h"
#include "slackline/model/admission.h"

namespace slackline::cluster {

// The whole webhook call has two seconds.
inline constexpr double kReviewTimeout_s = 0.5;

class AccessReviewer {
 public:
  virtual ~AccessReviewer() = default;
  // Whether `user` may `use` qosclasses/NAME of the group slackline.dev in the namespace.
  virtual Result<bool> may_use_class(const Requester& user, const std::string& ns,
                                     const std::string& qos_class) = 0;
};

// Fails when the kubeconfig cannot be used.
Result<std::unique_ptr<AccessReviewer>> make_access_reviewer(const KubeAccess& access);

}  // namespace slackline::cluster
