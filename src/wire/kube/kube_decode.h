// Kubernetes objects, lists and watch frames, from JSON to plain values (simdjson behind it).
//
// Only what scheduling needs is kept; managedFields, images, env and the rest are dropped at once.
// Null and unknown fields are tolerated. A quantity that cannot be parsed marks its own node or pod
// (problems), never the list (F44). Documents nested deeper than 1024 or invalid UTF-8 are errors.
//
// Thread-safety: one decoder per thread (it keeps its parser's buffers).
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "slackline/base/result.h"
#include "slackline/model/gpu_catalog.h"
#include "slackline/model/namespace.h"
#include "slackline/model/pod.h"
#include "slackline/model/pod_admission.h"
#include "slackline/model/quota.h"

namespace slackline::wire {

enum class KubeKind {
  kNode,
  kPod,
  kJob,
  kDisruptionBudget,
  kResourceQuota,
  kNamespace,
  kPriorityClass,
  kRuntimeClass,
  kLimitRange,
  kDeviceClass,
  kVolumeClaim,
  kVolume,
};
inline constexpr std::size_t kKubeKindCount = 12;

// One object as the cache takes it.
using KubeObject =
    std::variant<Node, Pod, Job, DisruptionBudget, ResourceQuota, Namespace, PriorityClass,
                 RuntimeClass, LimitRange, DeviceClass, VolumeClaim, Volume>;

// A v1.Status, as errors and watch ERROR events carry it.
struct KubeStatus {
  int code = 0;
  std::string reason;
  std::string message;
  double retry_after_s = 0;  // details.retryAfterSeconds
};

// A page of a list: items in order, and the token of the next page.
struct KubeList {
  std::vector<KubeObject> items;
  std::string resource_version;
  std::string continue_token;
  std::size_t skipped = 0;  // items that were not objects
  // The first few of them, in a dump: "items[3]: Node: metadata.name is missing".
  std::vector<std::string> skipped_examples{};
};

enum class WatchType { kAdded, kModified, kDeleted, kBookmark, kError, kUnknown };

struct WatchFrame {
  WatchType type = WatchType::kUnknown;
  std::string resource_version;     // of the object or the bookmark; empty where absent
  bool initial_events_end = false;  // bookmark annotation k8s.io/initial-events-end
  std::variant<std::monostate, KubeObject, KubeStatus> payload;
};

class KubeDecoder {
 public:
  explicit KubeDecoder(GpuCatalog catalog);
  ~KubeDecoder();
  KubeDecoder(KubeDecoder&&) noexcept;
  KubeDecoder& operator=(KubeDecoder&&) noexcept;

  Result<KubeObject> object(KubeKind kind, std::string_view json);
  // With labels and constraints, which are otherwise left out of a pod that asks for no GPU.
  Result<Pod> whole_pod(std::string_view json);
  Result<KubeList> list(KubeKind kind, std::string_view json);
  Result<WatchFrame> watch_frame(KubeKind kind, std::string_view line);

  // A dump of `kubectl get nodes,pods,jobs -A -o json`: a List of any kinds, others are left out.
  // Refused: text without kind or items (error messages, half a dump). An empty cluster is `items:
  // []`.
  Result<KubeList> dump(std::string_view json);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

Result<KubeStatus> decode_status(std::string_view json);

}  // namespace slackline::wire
