#include "wire/kube/redact.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <nlohmann/json.hpp>

#include "slackline/base/text.h"
#include "slackline/model/contract.h"
#include "wire/format/json_view.h"
#include "wire/gangs/owner_gang.h"
#include "wire/kube/kube_decode.h"
#include "wire/kube/object_decode.h"

namespace slackline::wire {
namespace {

using nlohmann::json;

// ---- codes of pieces

constexpr std::string_view kCodeDigits =
    "2456789bcdfghjklmnpqrstvwxz";  // in order; of generateName
constexpr std::size_t kCodeLength = 5;
constexpr std::size_t kMostPieces = 14'348'907;  // 27^5

bool is_piece(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c & 0x80);
}

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
}

// Equal pieces of texts have equal codes, in the order of the pieces.
class Codes {
 public:
  explicit Codes(const RedactionRules& rules) : rules_(rules) {}

  void learn(std::string_view text) {
    for_each_piece(text, [this](std::string_view piece, std::size_t) { pieces_.emplace(piece); });
  }

  Status give() {
    if (pieces_.size() > kMostPieces)
      return fail(ErrorCode::kResourceExhausted, "the dump has more names than there are codes");
    std::size_t rank = 0;
    for (const std::string& piece : pieces_)
      codes_.emplace(piece, code(piece, rank++));
    return {};
  }

  std::string of(std::string_view text) const {
    std::string out;
    std::size_t written = 0;
    for_each_piece(text, [&](std::string_view piece, std::size_t at) {
      out += text.substr(written, at - written);
      out += codes_.at(std::string(piece));
      written = at + piece.size();
    });
    return out.append(text.substr(written));
  }

  std::size_t size() const { return pieces_.size(); }

 private:
  bool is_generated(std::string_view piece) const {
    return rules_.stem(format("x-{}", piece)) == "x";
  }

  // Where a UUID at the end begins; npos: there is none.
  std::size_t uuid_in(std::string_view text) const {
    constexpr std::size_t kUuid = 36;
    if (text.size() < kUuid || text[text.size() - kUuid + 8] != '-') return text.npos;
    const std::size_t begins = text.size() - kUuid;
    return is_generated(text.substr(begins)) ? begins : text.npos;
  }

  // Code of what is generated: the alphabet of generated names alone. Else one more letter.
  std::string code(std::string_view piece, std::size_t rank) const {
    std::string digits(kCodeLength, kCodeDigits[0]);
    for (std::size_t at = kCodeLength; at-- > 0; rank /= kCodeDigits.size())
      digits[at] = kCodeDigits[rank % kCodeDigits.size()];
    return is_generated(piece) ? digits : digits + "a";
  }

  template <class Take>
  void for_each_piece(std::string_view text, const Take& take) const {
    const std::size_t uuid = uuid_in(text);
    for (std::size_t at = 0; at < text.size();) {
      if (at == uuid) return take(text.substr(at), at);
      std::size_t end = at;
      while (end < text.size() && is_piece(text[end]))
        ++end;
      if (end > at) take(text.substr(at, end - at), at);
      at = std::max(end, at + 1);
    }
  }

  const RedactionRules& rules_;
  std::set<std::string> pieces_;
  std::map<std::string, std::string> codes_;
};

// ---- what is kept of a field

enum class Keep : std::uint8_t {
  kAsItIs,  // its strings are words of Kubernetes
  kCoded,   // its strings are names
  kInto,    // its fields, by this table
  kLabels,  // keys and values
  kAnnotations,
  kAmounts,  // by resource
  kKey,      // the key of a label, a taint or a resource
};

// By name, wherever they are. All others are left out.
constexpr std::string_view kObjectFields[] = {"affinity",
                                              "amounts",
                                              "charged",
                                              "claimRef",
                                              "conditions",
                                              "containerStatuses",
                                              "containers",
                                              "ephemeral",
                                              "given",
                                              "goesOn",
                                              "initContainerStatuses",
                                              "initContainers",
                                              "labelSelector",
                                              "matchExpressions",
                                              "matchFields",
                                              "metadata",
                                              "namespaceSelector",
                                              "nodeAffinity",
                                              "nodeSelectorTerms",
                                              "ownerReferences",
                                              "persistentVolumeClaim",
                                              "podAffinity",
                                              "podAntiAffinity",
                                              "ports",
                                              "required",
                                              "requiredDuringSchedulingIgnoredDuringExecution",
                                              "resize",
                                              "resources",
                                              "running",
                                              "scheduling",
                                              "schedulingGates",
                                              "schedulingGroup",
                                              "scopeSelector",
                                              "selector",
                                              "slow",
                                              "spec",
                                              "state",
                                              "status",
                                              "taints",
                                              "template",
                                              "terminated",
                                              "tolerations",
                                              "topologySpreadConstraints",
                                              "uncountedTerminatedPods",
                                              "volumes",
                                              "waiting"};
constexpr std::string_view kNameFields[] = {
    "by",           "claimName",         "generateName", "id",
    "image",        "imageID",           "name",         "namespace",
    "namespaces",   "nodeName",          "nodes",        "nominatedNodeName",
    "podGroupName", "priorityClassName", "queue",        "runtimeClassName",
    "uid",          "volumeName"};
constexpr std::string_view kWordFields[] = {"active",
                                            "activeDeadlineSeconds",
                                            "asked",
                                            "at",
                                            "backoffLimit",
                                            "completionMode",
                                            "completionTime",
                                            "completions",
                                            "controller",
                                            "count",
                                            "cpuLimit",
                                            "cpuRequest",
                                            "creationTimestamp",
                                            "deletionGracePeriodSeconds",
                                            "deletionTimestamp",
                                            "disruptions",
                                            "disruptionsAllowed",
                                            "effect",
                                            "epoch",
                                            "exitCode",
                                            "expectedSeconds",
                                            "failed",
                                            "finishedAt",
                                            "from",
                                            "generation",
                                            "globalDefault",
                                            "gpuSeconds",
                                            "gpus",
                                            "hostNetwork",
                                            "hostPort",
                                            "lastTransitionTime",
                                            "left",
                                            "lostGpuSeconds",
                                            "maxSkew",
                                            "memoryLimit",
                                            "memoryRequest",
                                            "minDomains",
                                            "nodeAffinityPolicy",
                                            "nodeTaintsPolicy",
                                            "operator",
                                            "parallelism",
                                            "phase",
                                            "podReplacementPolicy",
                                            "predictedSeconds",
                                            "preemptionPolicy",
                                            "priority",
                                            "promoted",
                                            "protocol",
                                            "ready",
                                            "reason",
                                            "restartCount",
                                            "restartPolicy",
                                            "scopeName",
                                            "scopes",
                                            "shape",
                                            "startTime",
                                            "startedAt",
                                            "succeeded",
                                            "suspend",
                                            "terminating",
                                            "terminationGracePeriodSeconds",
                                            "tolerationSeconds",
                                            "tooSmall",
                                            "trial",
                                            "type",
                                            "unschedulable",
                                            "whenUnsatisfiable"};
constexpr std::string_view kLabelFields[] = {"labels", "matchLabels", "nodeSelector"};
constexpr std::string_view kAmountFields[] = {
    "allocatable",          "capacity", "default",  "defaultRequest", "hard",     "limits", "max",
    "maxLimitRequestRatio", "min",      "overhead", "podFixed",       "requests", "used"};
constexpr std::string_view kKeyFields[] = {"extendedResourceName", "managedBy", "matchLabelKeys",
                                           "mismatchLabelKeys", "topologyKey"};

// Of owners; other kinds are nobody's business.
constexpr std::string_view kOwnerKinds[] = {
    "Job",        "CronJob",    "ReplicaSet", "StatefulSet", "Deployment", "DaemonSet",
    "JobSet",     "PyTorchJob", "TFJob",      "MPIJob",      "XGBoostJob", "PaddleJob",
    "JAXJob",     "TrainJob",   "RayCluster", "RayJob",      "RayService", "LeaderWorkerSet",
    "AppWrapper", "Node",       "Workflow"};

// Whose keys are in their documentation.
constexpr std::string_view kPublicDomains[] = {"kubernetes.io",     "k8s.io",
                                               "kubeflow.org",      "ray.io",
                                               "openshift.io",      "nvidia.com",
                                               "amd.com",           "intel.com",
                                               "habana.ai",         "cloud.google.com",
                                               "eks.amazonaws.com", "karpenter.sh",
                                               "k8s.aws",           "kubernetes.azure.com",
                                               "slackline.dev",     "volcano.sh",
                                               "x-k8s.io"};

// Below them, and yet with names that people choose.
constexpr std::string_view kPrivateDomains[] = {
    "node-role.kubernetes.io", "node-restriction.kubernetes.io", "storageclass.storage.k8s.io",
    "volumeattributesclass.storage.k8s.io", "deviceclass.resource.k8s.io"};

// Whose values say which GPUs a node has.
constexpr std::string_view kGpuDomains[] = {"nvidia.com", "amd.com", "intel.com", "habana.ai"};
constexpr std::string_view kGpuKeys[] = {
    "node.kubernetes.io/instance-type",          "beta.kubernetes.io/instance-type",
    "cloud.google.com/gke-accelerator",          "cloud.google.com/gke-gpu-partition-size",
    "cloud.google.com/gke-gpu-sharing-strategy", "kubernetes.azure.com/accelerator",
    "eks.amazonaws.com/instance-gpu-name",       "karpenter.k8s.aws/instance-gpu-name"};

// Annotations whose values are names; those in JSON; and what nobody needs.
constexpr std::string_view kNameNotes[] = {contract::kFamily, contract::kDependsOn,
                                           contract::kCalibrationOf};
constexpr std::string_view kJsonNotes[] = {contract::kPlan,
                                           contract::kOriginal,
                                           contract::kPreemptions,
                                           contract::kPreemptFor,
                                           "scheduler.alpha.kubernetes.io/defaultTolerations",
                                           "scheduler.alpha.kubernetes.io/tolerationsWhitelist"};
constexpr std::string_view kDroppedNotes[] = {contract::kAdmitted, contract::kForecast};
constexpr std::string_view kSelectorNotes[] = {"scheduler.alpha.kubernetes.io/node-selector",
                                               "openshift.io/node-selector"};

template <class List>
bool is_among(const List& list, std::string_view text) {
  return std::find(std::begin(list), std::end(list), text) != std::end(list);
}

std::optional<Keep> keep_of(std::string_view field) {
  if (is_among(kWordFields, field)) return Keep::kAsItIs;
  if (is_among(kNameFields, field)) return Keep::kCoded;
  if (is_among(kObjectFields, field)) return Keep::kInto;
  if (is_among(kLabelFields, field)) return Keep::kLabels;
  if (is_among(kAmountFields, field)) return Keep::kAmounts;
  if (is_among(kKeyFields, field)) return Keep::kKey;
  return field == "annotations" ? std::optional(Keep::kAnnotations) : std::nullopt;
}

std::string_view domain_of(std::string_view key) {
  const std::size_t slash = key.find('/');
  return slash == key.npos ? std::string_view() : key.substr(0, slash);
}

template <class List>
bool is_below(const List& domains, std::string_view domain) {
  return std::any_of(std::begin(domains), std::end(domains), [domain](std::string_view parent) {
    if (!domain.ends_with(parent)) return false;
    const std::size_t rest = domain.size() - parent.size();
    return rest == 0 || domain[rest - 1] == '.';
  });
}

// Not deeper and not otherwise than the decoders take it.
Result<json> parsed(std::string_view text) {
  JsonDocument document;
  SLACKLINE_TRY(document.parse(text));
  return json::parse(text, nullptr, false);
}

// Words, numbers, moments, durations, shapes.
bool is_word(std::string_view text) {
  constexpr std::size_t kLongest = 48;
  return text.size() <= kLongest && std::all_of(text.begin(), text.end(), [](char c) {
           return (is_piece(c) && !(c & 0x80)) ||
                  std::string_view(":;.+-,_ ").find(c) != std::string_view::npos;
         });
}

class Redactor {
 public:
  explicit Redactor(const RedactionRules& rules)
      : catalog_(rules.catalog), rules_(rules), codes_(rules) {}

  Status give_codes() {
    learning_ = false;
    return codes_.give();
  }
  std::size_t pieces() const { return codes_.size(); }

  json object(const json& seen) {
    json out = fields(seen);
    out["kind"] = seen.at("kind");
    if (const auto version = seen.find("apiVersion"); version != seen.end())
      out["apiVersion"] = *version;
    return out;
  }

 private:
  template <class Make>
  static json each_of(const json& array, const Make& make) {
    json out = json::array();
    for (const json& each : array)
      out.push_back(make(each));
    return out;
  }

  std::string code(const std::string& text) {
    if (!learning_) return codes_.of(text);
    codes_.learn(text);
    return text;
  }

  json coded(const json& seen) {
    if (seen.is_array()) return each_of(seen, [&](const json& each) { return coded(each); });
    if (!seen.is_string()) return {};
    const auto& text = seen.get_ref<const std::string&>();
    return text.starts_with(contract::kPrefix) ? text : code(text);
  }

  json as_it_is(const json& seen) {
    if (seen.is_array()) return each_of(seen, [&](const json& each) { return as_it_is(each); });
    if (seen.is_object()) return {};
    if (!seen.is_string()) return seen;
    const auto& text = seen.get_ref<const std::string&>();
    return is_word(text) ? text : code(text);
  }

  bool is_public(std::string_view key) const {
    const std::string_view domain = domain_of(key);
    const bool documented = is_below(kPublicDomains, domain) && !is_below(kPrivateDomains, domain);
    return documented || is_among(catalog_.type_labels, key) ||
           is_among(catalog_.topology_labels, key) || catalog_.resource(key) != nullptr ||
           key == "job-name" || key == "controller-uid" || key == "metadata.name";
  }

  json key(const json& seen) {
    if (seen.is_array()) return each_of(seen, [&](const json& each) { return key(each); });
    if (!seen.is_string()) return {};
    const auto& text = seen.get_ref<const std::string&>();
    return is_public(text) ? text : code(text);
  }

  // Numbers and truths stay: they are compared by more than equality, and name nobody.
  json value(std::string_view of, const json& seen) {
    if (seen.is_array()) return each_of(seen, [&](const json& each) { return value(of, each); });
    if (!seen.is_string()) return seen.is_object() ? json() : seen;
    const auto& text = seen.get_ref<const std::string&>();
    const bool of_gpus = is_below(kGpuDomains, domain_of(of)) || is_among(kGpuKeys, of) ||
                         is_among(catalog_.type_labels, of);
    if (of_gpus || of == contract::kCalibrationLabel || of == kPodSecurityLabel ||
        is_number(text) || text == "true" || text == "false")
      return text;
    return code(text);
  }

  json labels(const json& seen) {
    json out = json::object();
    for (const auto& [name, text] : seen.items())
      out[key(name).get<std::string>()] = value(name, text);
    return out;
  }

  json amounts(const json& seen) {
    if (!seen.is_object()) return seen.is_array() ? into(seen) : json();
    json out = json::object();
    for (const auto& [name, amount] : seen.items()) {
      const std::string_view resource = std::string_view(name).substr(name.find_last_of('.') + 1);
      const bool counted = resource == "cpu" || resource == "memory" || resource == "pods" ||
                           name == "count/pods" || is_public(name) || is_public(without_verb(name));
      if (name == "podFixed")
        out[name] = amounts(amount);
      else if (counted)
        out[name] = as_it_is(amount);
    }
    return out;
  }

  // "requests.nvidia.com/gpu" of a quota.
  static std::string_view without_verb(std::string_view name) {
    for (const std::string_view verb : {"requests.", "limits."})
      if (name.starts_with(verb)) return name.substr(verb.size());
    return name;
  }

  // "a=b,c=d"
  std::string selector(const std::string& text) {
    std::vector<std::string> terms;
    for (const std::string_view term : split(text, ',')) {
      const std::size_t equals = std::min(term.find('='), term.size());
      const std::string name(trim(term.substr(0, equals)));
      std::string out = key(name).get<std::string>();
      if (equals < term.size())
        out += "=" + value(name, std::string(trim(term.substr(equals + 1)))).get<std::string>();
      terms.push_back(std::move(out));
    }
    return join(terms, ",");
  }

  // A note of Slackline, without its code: on a dump nothing can be proved.
  json note(const std::string& text) {
    const Result<json> known = parsed(text);
    return known && known->is_structured() ? written(into(*known)) : code(text);
  }

  static std::string written(const json& value) {
    return value.dump(-1, ' ', false, json::error_handler_t::replace);
  }

  // nullopt: nobody needs it.
  std::optional<json> annotation(const std::string& name, const json& seen) {
    if (!seen.is_string()) return std::nullopt;
    const auto& text = seen.get_ref<const std::string&>();
    if (is_among(kDroppedNotes, name)) return std::nullopt;
    if (is_among(kSelectorNotes, name)) return selector(text);
    if (name == kLeadersFirst) return key(seen);  // its value is the key of a label
    if (name == contract::kDeviceIds) return written(amounts(parsed(text).value_or(json())));
    if (is_among(kJsonNotes, name)) return note(text);
    if (is_among(kNameNotes, name)) return code(text);
    if (name == contract::kModel) return rules_.is_public_model(text) ? text : code(text);
    if (contract::find_key(name) != nullptr) return as_it_is(seen);
    if (!is_public(name) || !is_word(text)) return std::nullopt;
    return value(name, seen);
  }

  json annotations(const json& seen) {
    json out = json::object();
    for (const auto& [name, text] : seen.items())
      if (std::optional<json> kept = annotation(name, text)) out[name] = *std::move(kept);
    return out;
  }

  json into(const json& seen) {
    if (seen.is_object()) return fields(seen);
    if (!seen.is_array()) return as_it_is(seen);
    return each_of(seen, [&](const json& each) { return into(each); });
  }

  json kept(Keep keep, const json& seen) {
    switch (keep) {
      case Keep::kAsItIs:
        return as_it_is(seen);
      case Keep::kCoded:
        return coded(seen);
      case Keep::kInto:
        return into(seen);
      case Keep::kKey:
        return key(seen);
      case Keep::kLabels:
        return seen.is_object() ? labels(seen) : json();
      case Keep::kAnnotations:
        return seen.is_object() ? annotations(seen) : json();
      case Keep::kAmounts:
        break;
    }
    return amounts(seen);
  }

  json fields(const json& seen) {
    json out = json::object();
    for (const auto& [name, field] : seen.items()) {
      const std::optional<Keep> keep = keep_of(name);
      if (!keep) continue;
      if (json value = kept(*keep, field); !value.is_null()) out[name] = std::move(value);
    }
    keyed(seen, out);
    return out;
  }

  // What is judged by another field of the same object.
  void keyed(const json& seen, json& out) {
    const auto name = seen.find("key");
    const std::string of = name != seen.end() && name->is_string() ? name->get<std::string>() : "";
    if (name != seen.end()) out["key"] = key(*name);
    for (const char* each : {"value", "values"})
      if (const auto found = seen.find(each); found != seen.end()) out[each] = value(of, *found);
    if (const auto found = seen.find("schedulerName"); found != seen.end() && found->is_string())
      out["schedulerName"] =
          *found == "default-scheduler" || *found == "gpu-scheduler" ? *found : coded(*found);
    const auto kind = seen.find("kind");
    if (kind == seen.end() || !kind->is_string()) return;
    const bool known = is_among(kOwnerKinds, kind->get_ref<const std::string&>());
    out["kind"] = known ? *kind : coded(*kind);
    const auto version = seen.find("apiVersion");
    if (version != seen.end() && version->is_string())
      out["apiVersion"] = known ? *version : coded(*version);
  }

  const GpuCatalog& catalog_;
  const RedactionRules& rules_;
  Codes codes_;
  bool learning_ = true;
};

// The objects of a dump as KubeDecoder::dump() finds them: lists in lists, typed lists whose items
// need not repeat their kind, or one object. Others are counted.
void collect(json& from, std::string kind, int depth, std::vector<json>& objects,
             std::size_t& left_out) {
  constexpr int kMaxListDepth = 8;
  if (!from.is_object() || depth > kMaxListDepth) return void(++left_out);
  if (const auto own = from.find("kind"); own != from.end() && own->is_string())
    if (const auto& name = own->get_ref<const std::string&>(); !name.empty()) kind = name;
  if (from.contains("items") && from["items"].is_array()) {
    if (kind.ends_with("List")) kind.resize(kind.size() - 4);
    for (json& item : from["items"])
      collect(item, kind, depth + 1, objects, left_out);
  } else if (is_decoded(kind)) {
    from["kind"] = kind;
    objects.push_back(std::move(from));
  } else {
    ++left_out;
  }
}

}  // namespace

Result<RedactedDump> redact_dump(std::string_view text, const RedactionRules& rules) {
  SLACKLINE_TRY(KubeDecoder(rules.catalog).dump(text));  // what it refuses is no dump here either
  json dump = json::parse(text, nullptr, false);
  RedactedDump out;
  std::vector<json> objects;
  collect(dump, "", 0, objects, out.left_out);
  Redactor redactor(rules);
  for (const json& object : objects)
    (void)redactor.object(object);
  SLACKLINE_TRY(redactor.give_codes());
  json items = json::array();
  for (const json& object : objects)
    items.push_back(redactor.object(object));
  out.objects = objects.size();
  out.replaced = redactor.pieces();
  const json list = {{"apiVersion", "v1"}, {"kind", "List"}, {"items", std::move(items)}};
  out.json = list.dump(1, ' ', false, json::error_handler_t::replace);
  return out;
}

}  // namespace slackline::wire
