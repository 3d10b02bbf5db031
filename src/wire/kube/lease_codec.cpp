#include "wire/kube/lease_codec.h"

#include <algorithm>
#include <cmath>

#include "slackline/base/duration.h"
#include "wire/format/json_view.h"
#include "wire/format/json_writer.h"

namespace slackline::wire {
namespace {

// metav1.MicroTime insists on six digits.
std::string micro_time(double epoch_s) {
  std::string text = format_rfc3339(epoch_s);
  return text.insert(text.size() - 1, ".000000");
}

}  // namespace

Result<LeaseRecord> decode_lease(std::string_view json) {
  JsonDocument document;
  SLACKLINE_ASSIGN(const JsonView root, document.parse(json));
  const JsonView spec = root["spec"];
  LeaseRecord lease;
  lease.resource_version = std::string(root["metadata"]["resourceVersion"].text());
  if (lease.resource_version.empty())
    return fail(ErrorCode::kInvalidArgument,
                "the answer is not a Lease: it has no resourceVersion");
  lease.holder = std::string(spec["holderIdentity"].text());
  lease.duration_s = spec["leaseDurationSeconds"].number().value_or(lease.duration_s);
  lease.transitions = std::max<std::int64_t>(0, spec["leaseTransitions"].integer().value_or(0));
  lease.renewed_s = parse_rfc3339_s(spec["renewTime"].text()).value_or(0);
  return lease;
}

std::string encode_lease(const ObjectKey& key, const LeaseRecord& lease) {
  JsonWriter out;
  out.begin_object().field("apiVersion", "coordination.k8s.io/v1").field("kind", "Lease");
  out.key("metadata").begin_object().field("name", key.name).field("namespace", key.ns);
  if (!lease.resource_version.empty()) out.field("resourceVersion", lease.resource_version);
  out.end_object().key("spec").begin_object().field("holderIdentity", lease.holder);
  out.field("leaseDurationSeconds", static_cast<std::int64_t>(std::ceil(lease.duration_s)));
  out.field("leaseTransitions", lease.transitions).field("renewTime", micro_time(lease.renewed_s));
  out.end_object().end_object();
  return out.take();
}

}  // namespace slackline::wire
