#include "wire/kube/kube_decode.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "slackline/base/text.h"
#include "wire/format/json_view.h"
#include "wire/kube/object_decode.h"

namespace slackline::wire {
namespace {

std::string_view kind_name(KubeKind kind) {
  switch (kind) {
    case KubeKind::kNode:
      return "Node";
    case KubeKind::kPod:
      return "Pod";
    case KubeKind::kJob:
      return "Job";
    case KubeKind::kDisruptionBudget:
      return "PodDisruptionBudget";
    case KubeKind::kResourceQuota:
      return "ResourceQuota";
    case KubeKind::kNamespace:
      return "Namespace";
    case KubeKind::kPriorityClass:
      return "PriorityClass";
    case KubeKind::kRuntimeClass:
      return "RuntimeClass";
    case KubeKind::kLimitRange:
      return "LimitRange";
    case KubeKind::kDeviceClass:
      return "DeviceClass";
    case KubeKind::kVolumeClaim:
      return "PersistentVolumeClaim";
    case KubeKind::kVolume:
      break;
  }
  return "PersistentVolume";
}

std::optional<KubeKind> kind_of(std::string_view name) {
  for (std::size_t i = 0; i < kKubeKindCount; ++i)
    if (name == kind_name(static_cast<KubeKind>(i))) return static_cast<KubeKind>(i);
  return std::nullopt;
}

KubeObject read_object(KubeKind kind, JsonView json, const GpuCatalog& catalog) {
  switch (kind) {
    case KubeKind::kNode:
      return read_node(json, catalog);
    case KubeKind::kPod:
      return read_pod(json, catalog);
    case KubeKind::kJob:
      return read_job(json, catalog);
    case KubeKind::kDisruptionBudget:
      return read_budget(json);
    case KubeKind::kResourceQuota:
      return read_quota(json);
    case KubeKind::kNamespace:
      return read_namespace(json);
    case KubeKind::kPriorityClass:
      return read_priority_class(json);
    case KubeKind::kRuntimeClass:
      return read_runtime_class(json, catalog);
    case KubeKind::kLimitRange:
      return read_limit_range(json, catalog);
    case KubeKind::kDeviceClass:
      return read_device_class(json);
    case KubeKind::kVolumeClaim:
      return read_volume_claim(json);
    case KubeKind::kVolume:
      break;
  }
  return read_volume(json);
}

// An object without a name cannot be kept: it has no identity.
Status check_named(KubeKind kind, JsonView json) {
  if (!json.is_object())
    return fail(ErrorCode::kInvalidArgument, format("{} is not a JSON object", kind_name(kind)));
  if (json["metadata"]["name"].text().empty())
    return fail(ErrorCode::kInvalidArgument,
                format("{}: metadata.name is missing", kind_name(kind)));
  return {};
}

Result<KubeObject> named_object(KubeKind kind, JsonView json, const GpuCatalog& catalog) {
  SLACKLINE_TRY(check_named(kind, json));
  return read_object(kind, json, catalog);
}

KubeStatus read_status(JsonView json) {
  KubeStatus status;
  status.code =
      static_cast<int>(std::clamp<std::int64_t>(json["code"].integer().value_or(0), 0, 999));
  status.reason = std::string(json["reason"].text());
  status.message = std::string(json["message"].text());
  status.retry_after_s =
      std::clamp(json["details"]["retryAfterSeconds"].number().value_or(0), 0.0, 86400.0);
  return status;
}

WatchType watch_type(std::string_view text) {
  if (text == "ADDED") return WatchType::kAdded;
  if (text == "MODIFIED") return WatchType::kModified;
  if (text == "DELETED") return WatchType::kDeleted;
  if (text == "BOOKMARK") return WatchType::kBookmark;
  if (text == "ERROR") return WatchType::kError;
  return WatchType::kUnknown;
}

void skip(const std::string& path, std::string_view why, KubeList& out) {
  constexpr std::size_t kExamples = 3;
  ++out.skipped;
  if (out.skipped_examples.size() < kExamples)
    out.skipped_examples.push_back(format("{}: {}", path, printable(why, 120)));
}

using Seen = std::set<std::tuple<KubeKind, std::string_view, std::string_view>>;

// Of objects that a dump has twice the last one counts: it was read later.
void note_twice(KubeKind kind, JsonView json, const std::string& path, Seen& seen, KubeList& out) {
  const std::string_view ns = json["metadata"]["namespace"].text();
  const std::string_view name = json["metadata"]["name"].text();
  if (seen.emplace(kind, ns, name).second) return;
  skip(path,
       format("{} {}{}{} is there twice, and the last one counts", kind_name(kind), ns,
              ns.empty() ? "" : "/", name),
       out);
}

// Adds the objects of a dump: a List of any kinds, typed lists inside it, or a single object.
void collect(JsonView json, std::string_view kind, const std::string& path, int depth,
             const GpuCatalog& catalog, Seen& seen, KubeList& out) {
  constexpr int kMaxListDepth = 8;
  if (!json.is_object()) return skip(path, "no object", out);
  if (depth > kMaxListDepth) return skip(path, "lists nested too deeply", out);
  if (const std::string_view own = json["kind"].text(); !own.empty()) kind = own;
  if (json["items"].is_array()) {
    // The items of a NodeList need not repeat their kind.
    const std::string_view item_kind =
        kind.ends_with("List") ? kind.substr(0, kind.size() - 4) : kind;
    std::size_t index = 0;
    for (const JsonView item : json["items"].items())
      collect(item, item_kind, format("{}items[{}]", path.empty() ? "" : path + ".", index++),
              depth + 1, catalog, seen, out);
    return;
  }
  if (kind.empty()) return skip(path, "no kind", out);
  if (kind.ends_with("List")) return skip(path, format("{} without items", kind), out);
  if (kind == "Status") return skip(path, format("a Status: {}", json["message"].text()), out);
  const auto known = kind_of(kind);
  if (!known) return;
  auto object = named_object(*known, json, catalog);
  if (!object) return skip(path, object.error().message, out);
  note_twice(*known, json, path, seen, out);
  out.items.push_back(*std::move(object));
}

constexpr std::string_view kRemedy =
    "a dump is what `kubectl get nodes,pods,jobs -A -o yaml` prints";

std::int64_t lists_of_items(JsonView root) {
  std::int64_t lists = 0;
  for (const JsonField field : root.fields())
    lists += field.key == "items" ? 1 : 0;
  return lists;
}

// JSON Lines, or several files in one: each of them is JSON.
bool is_several_documents(std::string_view text) {
  const auto at = json_error_offset(text);
  if (!at || *at >= text.size() || text[*at] != '{') return false;
  JsonDocument first;
  return first.parse(text.substr(0, *at)).has_value();
}

// A text that is not a dump must not be taken for an empty cluster.
Status check_dump(JsonView root) {
  if (!root.is_object())
    return fail(ErrorCode::kInvalidArgument, format("it is not a List; {}", kRemedy));
  const std::string_view kind = root["kind"].text();
  if (kind.empty())
    return fail(
        ErrorCode::kInvalidArgument,
        format("it has no kind, which kubectl writes last: it is cut short, or not a dump; {}",
               kRemedy));
  if (kind_of(kind)) return {};
  const std::string_view of_list = kind.ends_with("List") ? kind.substr(0, kind.size() - 4) : "-";
  if (!of_list.empty() && !kind_of(of_list))
    return fail(ErrorCode::kInvalidArgument,
                format("its kind is {}, not List; {}", printable(kind, 64), kRemedy));
  if (!root["items"].is_array())
    return fail(ErrorCode::kInvalidArgument,
                format("it is a {} without items; an empty cluster is written as items: []", kind));
  if (lists_of_items(root) > 1)
    return fail(ErrorCode::kInvalidArgument,
                format("it has several lists of items, of which one would count; {}", kRemedy));
  return {};
}

}  // namespace

bool is_decoded(std::string_view kind) {
  return kind_of(kind).has_value();
}

struct KubeDecoder::Impl {
  GpuCatalog catalog;
  JsonDocument document;
};

KubeDecoder::KubeDecoder(GpuCatalog catalog)
    : impl_(std::make_unique<Impl>(Impl{std::move(catalog), JsonDocument{}})) {}
KubeDecoder::~KubeDecoder() = default;
KubeDecoder::KubeDecoder(KubeDecoder&&) noexcept = default;
KubeDecoder& KubeDecoder::operator=(KubeDecoder&&) noexcept = default;

Result<KubeObject> KubeDecoder::object(KubeKind kind, std::string_view json) {
  SLACKLINE_ASSIGN(const JsonView root, impl_->document.parse(json));
  return named_object(kind, root, impl_->catalog);
}

Result<Pod> KubeDecoder::whole_pod(std::string_view json) {
  SLACKLINE_ASSIGN(const JsonView root, impl_->document.parse(json));
  SLACKLINE_TRY(check_named(KubeKind::kPod, root));
  return read_whole_pod(root, impl_->catalog);
}

Result<KubeList> KubeDecoder::list(KubeKind kind, std::string_view json) {
  SLACKLINE_ASSIGN(const JsonView root, impl_->document.parse(json));
  if (!root.is_object()) return fail(ErrorCode::kInvalidArgument, "a list is not a JSON object");
  if (root["kind"].text() == "Status") {
    const KubeStatus status = read_status(root);
    return fail(error_of_http_status(status.code), format("{}: {}", status.reason, status.message));
  }
  KubeList list;
  const JsonView metadata = root["metadata"];
  list.resource_version = std::string(metadata["resourceVersion"].text());
  list.continue_token = std::string(metadata["continue"].text());
  const JsonView items = root["items"];
  if (items.present() && !items.is_array())
    return fail(ErrorCode::kInvalidArgument, "a list's items are not a JSON array");
  list.items.reserve(items.items().count());
  for (const JsonView item : items.items()) {
    if (auto object = named_object(kind, item, impl_->catalog))
      list.items.push_back(*std::move(object));
    else
      ++list.skipped;
  }
  return list;
}

Result<WatchFrame> KubeDecoder::watch_frame(KubeKind kind, std::string_view line) {
  SLACKLINE_ASSIGN(const JsonView root, impl_->document.parse(line));
  if (!root.is_object())
    return fail(ErrorCode::kInvalidArgument, "a watch frame is not a JSON object");
  const JsonView object = root["object"];
  const JsonView metadata = object["metadata"];
  WatchFrame frame;
  frame.type = watch_type(root["type"].text());
  switch (frame.type) {
    case WatchType::kUnknown:
      return frame;
    case WatchType::kError:
      frame.payload = read_status(object);
      return frame;
    case WatchType::kBookmark:
      frame.initial_events_end =
          metadata["annotations"]["k8s.io/initial-events-end"].text() == "true";
      break;
    case WatchType::kAdded:
    case WatchType::kModified:
    case WatchType::kDeleted: {
      SLACKLINE_ASSIGN(KubeObject value, named_object(kind, object, impl_->catalog));
      frame.payload = std::move(value);
      break;
    }
  }
  frame.resource_version = std::string(metadata["resourceVersion"].text());
  return frame;
}

Result<KubeList> KubeDecoder::dump(std::string_view json) {
  const auto root = impl_->document.parse(json);
  if (!root && is_several_documents(json))
    return fail(ErrorCode::kInvalidArgument,
                format("it is several JSON documents one after the other: join them with jq -s "
                       "'{{kind: \"List\", items: .}}'; {}",
                       kRemedy));
  if (!root) return fail(root.error().code, root.error().message);
  SLACKLINE_TRY(check_dump(*root));
  KubeList list;
  Seen seen;
  collect(*root, "", "", 0, impl_->catalog, seen, list);
  list.resource_version = std::string((*root)["metadata"]["resourceVersion"].text());
  return list;
}

Result<KubeStatus> decode_status(std::string_view json) {
  JsonDocument document;
  SLACKLINE_ASSIGN(const JsonView root, document.parse(json));
  if (root["kind"].text() != "Status")
    return fail(ErrorCode::kInvalidArgument, "the answer is not a v1 Status");
  return read_status(root);
}

}  // namespace slackline::wire
