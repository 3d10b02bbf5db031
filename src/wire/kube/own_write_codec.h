// Slackline's writes to the API server (model/own_write.h), and the parts of them that are read
// back.
//
// Jobs and pods are PATCHed as merge patches; a Job whose container gets another GPU count as a
// strategic one, so that the other containers stay; a gate as a JSON patch whose tests make it a
// no-op on any other pod. An eviction is POSTed. metadata.uid and metadata.resourceVersion are
// preconditions: 409 where they differ.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "slackline/base/result.h"
#include "slackline/model/mac.h"
#include "slackline/model/own_write.h"
#include "wire/format/json_view.h"

namespace slackline::wire {

struct PatchBody {
  std::string_view content_type;
  std::string_view subresource;  // "status" or "eviction", or empty
  std::string body;
  std::string_view method = "PATCH";
};

// `mac` signs plans, preemptions and notices (wire/kube/sealed_text.h); null: they are not signed.
PatchBody encode_own_write(const OwnWrite& write, const MessageAuthenticator* mac = nullptr);

// The `plan` annotation, as read_plan() reads it.
std::string encode_plan(const PlanNote& plan);

// nodeSelectorTerms.
std::string encode_terms(const std::vector<NodeSelectorTerm>& terms);

// The member `resize` of a plan; nullopt: it is none.
std::optional<ResizeNote> read_resize_note(JsonView json);

// The `original` annotation: {"parallelism","gpus","affinity":[terms],"amounts":{"cpuRequest",
// "cpuLimit","memoryRequest","memoryLimit"},"given":{"gpus","amounts"}}.
std::string encode_original(const OriginalShape& original);
Result<OriginalShape> read_original(std::string_view text);

// The `preemptions` annotation: {"count","left","lostGpuSeconds","at"}, and a code
// (wire/kube/sealed_text.h).
std::string encode_preemptions(const PreemptionNote& note);
Result<PreemptionNote> read_preemptions(std::string_view annotation);

// The annotation `preempt-for`: {"at","namespace","name","uid"}, and a code.
std::string encode_notice(const StopNotice& notice);
Result<StopNotice> read_notice(std::string_view annotation);

// metadata.resourceVersion of the object that a write was answered with.
Result<std::string> decode_written_version(std::string_view json);

}  // namespace slackline::wire
