// AdmissionReview v1 of Jobs (batch/v1) and Pods: from JSON to plain values, and the answer back.
//
// Kinds, versions and operations that do not concern Slackline decode as std::monostate or kOther,
// never as an error: such a request must be allowed. An error means that there is no request to
// answer: not JSON, not an AdmissionReview of v1, no request.uid.
#pragma once

#include <string>
#include <string_view>

#include "message/admission_review.h"
#include "slackline/base/result.h"
#include "slackline/model/gpu_catalog.h"

namespace slackline::wire {

// Two objects of at most 1.5 MB each (etcd's limit), and their envelope.
inline constexpr std::size_t kMaxAdmissionBytes = std::size_t{8} << 20;

Result<AdmissionReview> decode_admission(std::string_view json, const GpuCatalog& catalog);

// The review of a Pod or a Job that somebody would create in this namespace, as a dry run.
Result<AdmissionReview> review_of_creation(std::string_view object, const std::string& ns,
                                           const GpuCatalog& catalog);

// Refused: status.code 403 and the reason in the message. Allowed: the changes as a JSON Patch, if
// there are any. At most 16 warnings of at most 250 bytes each, which is what kubectl shows.
std::string encode_admission(const AdmissionReview& review, const AdmissionDecision& decision);

// The changes as an RFC 6902 patch of the reviewed object; empty where nothing changes. Paths that
// the object lacks are created first.
std::string encode_json_patch(const AdmissionReview& review, const AdmissionChanges& changes);

}  // namespace slackline::wire
