// What we write to the API server: Bindings, the writes of the hand-over, Events. Every write but
// an Event carries a precondition. A name that Kubernetes would not allow is never sent
// (kInvalidArgument).
//
// Thread-safe: called from all request threads at once.
#pragma once

#include <memory>

#include "cluster/watch/source.h"
#include "slackline/model/gpu_catalog.h"

namespace slackline::cluster {

class ApiClient;

// Of the writes that no scheduler waits for.
inline constexpr double kOwnWriteTimeout_s = 5.0;

// Plans are written with a proof by `mac`, and while it has no key not at all (kInvalidArgument);
// it and `client` outlive the writer. Null: plans are written without one.
//
// Errors of the writer: kConflict (409), kNotFound (404),
// kForbidden (401, 403), kInvalidArgument (other 4xx), kResourceExhausted (429), kUnavailable (5xx,
// unreachable), kTimeout (may have happened).
// `catalog` says which resources of a pod that is read are GPUs.
std::unique_ptr<ClusterWriter> make_kube_writer(ApiClient& client,
                                                GpuCatalog catalog = default_gpu_catalog(),
                                                const MessageAuthenticator* mac = nullptr);

}  // namespace slackline::cluster
