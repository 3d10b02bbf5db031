#include "wire/kueue/kueue_decode.h"

#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "slackline/base/quantity.h"
#include "slackline/base/saturating.h"
#include "slackline/base/text.h"
#include "wire/format/json_view.h"
#include "wire/format/yaml.h"
#include "wire/kube/kube_common.h"
#include "wire/kube/object_decode.h"

namespace slackline::wire {
namespace {

constexpr std::string_view kKueueGroup = "kueue.x-k8s.io/";
constexpr std::size_t kShownName = 64;

std::string shown_name(std::string_view text) {
  return printable(text, kShownName);
}

// The objects of a list, and of the lists in it.
void collect(JsonView object, std::vector<JsonView>& objects) {
  if (object["kind"].text().ends_with("List")) {
    for (const JsonView item : object["items"].items())
      collect(item, objects);
  } else {
    objects.push_back(object);
  }
}

bool is_kueue(JsonView object, std::string_view kind) {
  return object["kind"].text() == kind && object["apiVersion"].text().starts_with(kKueueGroup);
}

bool is_node(JsonView object) {
  return object["kind"].text() == "Node" && object["apiVersion"].text() == "v1";
}

class KueueReader {
 public:
  explicit KueueReader(const GpuCatalog& catalog) : catalog_(catalog) {}

  Result<KueueSetup> read(const std::vector<JsonView>& objects) {
    for (const JsonView object : objects)
      SLACKLINE_TRY(read_flavor(object));
    for (const JsonView object : objects) {
      object_ = object;
      SLACKLINE_TRY(read_object());
    }
    if (setup_.cluster_queues.empty())
      return fail(ErrorCode::kInvalidArgument,
                  "it has no ClusterQueue; write what `kubectl get clusterqueues,cohorts,"
                  "resourceflavors,localqueues -A -o yaml` prints");
    return std::move(setup_);
  }

 private:
  // "ClusterQueue ml: spec.cohort: is 7; write a name".
  tl::unexpected<Error> wrong(std::string_view path, std::string_view problem,
                              std::string_view remedy) const {
    const ObjectKey key = read_key(object_["metadata"]);
    return fail(ErrorCode::kInvalidArgument,
                format("{} {}: {}: {}; {}", shown_name(object_["kind"].text()),
                       shown_name(key.ns.empty() ? key.name : key.str()), path, problem, remedy));
  }

  Status read_flavor(JsonView object) {
    if (!is_kueue(object, "ResourceFlavor")) return {};
    object_ = object;
    const std::string name = read_key(object["metadata"]).name;
    const GpuType type = catalog_.classify(read_labels(object["spec"]["nodeLabels"]));
    if (!flavors_.emplace(name, type).second)
      return wrong("metadata.name", "is in the file twice", "keep one of them");
    return {};
  }

  Status read_object() {
    const bool is_queue = is_kueue(object_, "ClusterQueue");
    const bool is_cohort = is_kueue(object_, "Cohort");
    const bool is_local = is_kueue(object_, "LocalQueue");
    if (!is_queue && !is_cohort && !is_local && !is_node(object_)) return {};
    ObjectKey key = read_key(object_["metadata"]);
    if (key.name.empty()) return wrong("metadata.name", "is missing", "write what kubectl prints");
    if (!seen_.emplace(object_["kind"].text(), key).second)
      return wrong("metadata.name", "is in the file twice", "keep one of them");
    if (is_queue) return read_queue(std::move(key.name), "cohortName", "cohort");
    if (is_cohort) return read_queue(std::move(key.name), "parentName", "parent");
    if (is_local) return read_local_queue(std::move(key));
    count_gpus(read_node(object_, catalog_));
    return {};
  }

  // The keys of the name of its cohort: of v1beta2, and of v1beta1.
  Status read_queue(std::string name, std::string_view key, std::string_view old_key) {
    const bool is_cohort = key == "parentName";
    const JsonView spec = object_["spec"];
    const JsonView cohort = spec[key].present() ? spec[key] : spec[old_key];
    KueueQueue queue{std::move(name), std::string(cohort.text())};
    SLACKLINE_TRY(each(spec, "spec", "resourceGroups", [&](JsonView group, std::string_view path) {
      return each(group, path, "flavors", [&](JsonView flavor, std::string_view at) {
        return read_flavor_quota(flavor, at, queue);
      });
    }));
    (is_cohort ? setup_.cohorts : setup_.cluster_queues).push_back(std::move(queue));
    return {};
  }

  Status read_flavor_quota(JsonView flavor, std::string_view path, KueueQueue& queue) {
    const std::string name(flavor["name"].text());
    return each(flavor, path, "resources", [&](JsonView resource, std::string_view at) -> Status {
      const std::string_view gpus = resource["name"].text();
      if (catalog_.resource(gpus) == nullptr || !catalog_.is_whole(gpus)) return {};
      const auto found = flavors_.find(name);
      if (found == flavors_.end())
        return wrong(format("{}.name", path),
                     format("there is no ResourceFlavor \"{}\" in the file", shown_name(name)),
                     "add resourceflavors to what kubectl gets");
      KueueQuota quota{name, found->second};
      if (!resource["nominalQuota"].present())
        return wrong(format("{}.nominalQuota", at), "is missing", kHowMany);
      SLACKLINE_TRY(read_gpus(resource, at, "nominalQuota", quota.nominal));
      SLACKLINE_TRY(read_gpus(resource, at, "borrowingLimit", quota.borrowing_limit));
      SLACKLINE_TRY(read_gpus(resource, at, "lendingLimit", quota.lending_limit));
      queue.quotas.push_back(std::move(quota));
      return {};
    });
  }

  Status read_local_queue(ObjectKey key) {
    const std::string_view queue = object_["spec"]["clusterQueue"].text();
    if (queue.empty())
      return wrong("spec.clusterQueue", "is missing", "write the name of a ClusterQueue");
    setup_.local_queues.push_back({std::move(key), std::string(queue)});
    return {};
  }

  void count_gpus(const Node& node) {
    if (!setup_.gpus) setup_.gpus.emplace();
    for (const ResourceAmount& amount : node.allocatable.gpus) {
      if (!catalog_.is_whole(amount.resource)) continue;
      std::int64_t& sum = (*setup_.gpus)[node.gpu_type];
      sum = saturating_add(sum, amount.count);
    }
  }

  // An absent one leaves the target as it is.
  Status read_gpus(JsonView resource, std::string_view path, std::string_view key,
                   std::int64_t& target) const {
    const JsonView value = resource[key];
    if (!value.present()) return {};
    std::string text(value.text());
    if (value.integer())
      text = format("{}", *value.integer());
    else if (value.number())
      text = format("{}", *value.number());
    const auto gpus = parse_quantity(text, Rounding::kDown);
    if (!gpus) return wrong(format("{}.{}", path, key), gpus.error().message, kHowMany);
    target = *gpus;
    return {};
  }

  // Calls `read` with each item of a list and its path; an absent list has none.
  Status each(JsonView parent, std::string_view path, std::string_view key,
              const std::function<Status(JsonView, std::string_view)>& read) const {
    const JsonView list = parent[key];
    if (list.present() && !list.is_array())
      return wrong(format("{}.{}", path, key), "is not a list", "write what kubectl prints");
    std::size_t at = 0;
    for (const JsonView item : list.items())
      SLACKLINE_TRY(read(item, format("{}.{}[{}]", path, key, at++)));
    return {};
  }

  static constexpr std::string_view kHowMany = "write how many GPUs, such as 8";

  const GpuCatalog& catalog_;
  JsonView object_;  // that is read
  std::map<std::string, GpuType, std::less<>> flavors_;
  std::set<std::pair<std::string, ObjectKey>> seen_;
  KueueSetup setup_;
};

}  // namespace

Result<KueueSetup> decode_kueue(std::string_view text, const GpuCatalog& catalog) {
  SLACKLINE_ASSIGN(const std::string json, yaml_to_json(text));
  JsonDocument document;
  SLACKLINE_ASSIGN(const JsonView root, document.parse(json));
  std::vector<JsonView> objects;
  collect(root, objects);
  return KueueReader(catalog).read(objects);
}

}  // namespace slackline::wire
