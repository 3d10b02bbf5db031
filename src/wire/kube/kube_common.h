// The common parts of Kubernetes objects: metadata, labels, selectors, resource lists.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "slackline/model/gpu_catalog.h"
#include "slackline/model/ids.h"
#include "slackline/model/pod.h"
#include "slackline/model/pod_ask.h"
#include "slackline/model/resources.h"
#include "wire/format/json_view.h"
#include "wire/kube/annotations.h"

namespace slackline::wire {

ObjectKey read_key(JsonView metadata);
Uid read_uid(JsonView metadata);

// Epoch seconds; 0 where absent or unreadable.
double read_time_s(JsonView value);

// Sorted by key; values that are not strings are left out.
Labels read_labels(JsonView map);
TextPairs read_pairs(JsonView map);  // views into the document, in its order

// ownerReferences with controller: true.
std::optional<OwnerRef> read_owner(JsonView metadata);

// An unknown operator becomes a requirement that nothing meets.
std::vector<MatchExpression> read_match_expressions(JsonView list);
MatchExpression never_matches();

// Appends, up to a limit: a broken object must not cost more than a good one.
void add_problem(std::vector<std::string>& problems, std::string problem);

// Of Resources::others: what a device plugin ("rdma/hca") or the kubelet counts.
bool is_other_resource(std::string_view name);

// Reads a resource list (name -> quantity) into the amounts that Slackline counts: cpu, memory,
// pods, GPU resources by the catalogue, and others. A malformed quantity, one above kMaxAmount, or
// a request for a part of a device, becomes a problem and counts as 0 (F44).
class ResourceReader {
 public:
  ResourceReader(const GpuCatalog& catalog, std::vector<std::string>& problems)
      : catalog_(catalog), problems_(problems) {}

  // For capacities, not requests: half a GPU counts as none, and no node has more than
  // kMaxGpusPerNode of one resource. A node that claims more has a problem, and none of them. Of
  // others it has kMaxAmount at most: nobody can ask for more.
  ResourceReader& of_capacity() {
    capacity_ = true;
    return *this;
  }

  // Sets what the list names.
  void apply(JsonView list, std::string_view path, Resources& out);

 private:
  enum class Unit { kThousandths, kWhole, kGpus, kOthers };
  std::int64_t amount(const JsonField& field, Unit unit, std::string_view path);
  void set_named(ResourceAmounts& amounts, const JsonField& field, Unit unit,
                 std::string_view path);

  const GpuCatalog& catalog_;
  std::vector<std::string>& problems_;
  bool capacity_ = false;
};

// Of pods: an int32 in the API.
inline constexpr std::int64_t kMaxPodCount = std::numeric_limits<std::int32_t>::max();

}  // namespace slackline::wire
