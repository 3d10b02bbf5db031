#include "wire/extender/extender_codec.h"

#include <algorithm>

#include "slackline/base/name_table.h"
#include "slackline/base/text.h"
#include "wire/extender/known_names.h"
#include "wire/extender/node_slices.h"
#include "wire/format/json_view.h"
#include "wire/format/json_writer.h"
#include "wire/kube/object_decode.h"

namespace slackline::wire {
namespace {

constexpr std::string_view kPodMissing =
    "Pod is missing or null: an extender request carries the pod to be scheduled";

template <class T>
void refuse_too_many(std::size_t count, std::size_t most, Decoded<T>& out) {
  out.too_many = true;
  out.refusal = format(
      "the request names {} nodes, more than the {} that are judged at once: twice the nodes of "
      "the "
      "cluster, at least 50000",
      count, most);
}

// Fills request.node_names from NodeNames, or says why it cannot.
std::string read_names(JsonView names, NameTable& seen, NodesRequest& request) {
  if (!names.is_array()) return "NodeNames is neither an array nor null";
  std::vector<std::string_view>& all = request.node_names;
  if (!names.read_texts(all)) return format("NodeNames[{}] is not a string", all.size());
  seen.reset(all.size());
  std::erase_if(all, [&](std::string_view name) { return !seen.insert(name); });
  return {};
}

// The same from a NodeList. `kept` gets, for every name, the place of its document in the list.
std::string read_nodes(JsonView nodes, NameTable& seen, NodesRequest& request,
                       std::vector<std::uint32_t>& kept) {
  if (!nodes.is_object()) return "Nodes is neither a NodeList nor null";
  const JsonItems items = nodes["items"].items();
  seen.reset(items.count());
  std::uint32_t place = 0;
  for (const JsonView node : items) {
    const std::string_view name = node["metadata"]["name"].text();
    if (name.empty()) return format("Nodes.items[{}].metadata.name is missing", place);
    if (seen.insert(name)) {
      request.node_names.push_back(name);
      kept.push_back(place);
    }
    ++place;
  }
  return {};
}

// Victims carry whole pods, MetaVictims only uids.
std::string read_victims(std::string_view node, JsonView victims, bool meta, NodeVictims& out) {
  out.node = std::string(node);
  out.pdb_violations =
      std::max<std::int64_t>(0, victims.find_any_case("NumPDBViolations").integer().value_or(0));
  for (const JsonView pod : victims.find_any_case("Pods").items()) {
    const std::string_view uid =
        meta ? pod.find_any_case("UID").text() : pod["metadata"]["uid"].text();
    if (uid.empty())
      return format("{}[\"{}\"].Pods[{}]: the uid is missing",
                    meta ? "NodeNameToMetaVictims" : "NodeNameToVictims", printable(node, 64),
                    out.victims.size());
    out.victims.emplace_back(uid);
  }
  return {};
}

// Writes the nodes that fail and are (not) unresolvable, as {"node":"why"}.
void write_failed(const NodesRequest& request, const FilterReply& reply, bool beyond_help,
                  JsonWriter& out) {
  out.begin_object();
  for (std::size_t i = 0; i < request.node_names.size(); ++i) {
    const Verdict verdict = reply.verdicts[i];
    if (!passes(verdict) && unresolvable(verdict) == beyond_help)
      out.field(request.node_names[i], message(verdict));
  }
  out.end_object();
}

// The names that pass; runs of neighbours go in one piece.
void write_passing(const NodesRequest& request, const FilterReply& reply, JsonWriter& out) {
  const std::size_t count = request.node_names.size();
  const std::vector<NodeIndex>& nodes = request.nodes;
  out.begin_array();
  for (std::size_t i = 0; i < count; ++i) {
    if (!passes(reply.verdicts[i])) continue;
    if (request.known == nullptr) {
      out.string(request.node_names[i]);
      continue;
    }
    const std::size_t first = i;
    while (i + 1 < count && nodes[i + 1] == nodes[i] + 1 && passes(reply.verdicts[i + 1]))
      ++i;
    out.raw(request.known->quoted(nodes[first], nodes[i]));
  }
  out.end_array();
}

// Only the names, its last field, are left out of such a request.
bool ends_with_no_names(JsonView root) {
  std::size_t named = 0;
  bool none = false;
  for (const auto& [key, value] : root.fields()) {
    if (to_lower(key) != "nodenames") continue;
    ++named;
    none = value.is_array() && value.items().count() == 0;
  }
  return named == 1 && none;
}

}  // namespace

struct ExtenderCodec::Impl {
  GpuCatalog catalog;
  JsonDocument document;
  std::size_t body_size = 0;  // of the request decoded last
  std::string without_names;  // the request, less its names
  NameTable seen;
  std::vector<std::uint32_t> kept;  // of a full-object request: places of its nodes in the list

  // Room for the names as they came, once, and for the reasons.
  std::size_t reply_size(const FilterReply& reply) const {
    constexpr std::size_t kReason = 128;
    const auto failed = std::count_if(reply.verdicts.begin(), reply.verdicts.end(),
                                      [](Verdict verdict) { return !passes(verdict); });
    return body_size + kReason * static_cast<std::size_t>(failed + 1);
  }

  // For a request as kube-scheduler writes it, if every node is known; nullopt for any other.
  std::optional<Decoded<NodesRequest>> decode_known(std::string_view body,
                                                    const std::shared_ptr<const NodeNames>& known) {
    const auto parts = split_names(body);
    Decoded<NodesRequest> out;
    if (!parts || !read_known_names(parts->items, *known, name_limit(known.get()), out.request))
      return std::nullopt;
    without_names.assign(parts->head).append("]}");
    const auto root = document.parse(without_names);
    if (!root || !ends_with_no_names(*root)) return std::nullopt;
    const JsonView pod = root->find_any_case("Pod");
    if (!pod.is_object()) return std::nullopt;
    out.request.pod = read_pod(pod, catalog);
    out.request.known = known;
    return out;
  }

  void write_node_list(const NodeListSlices& nodes, const FilterReply& reply,
                       JsonWriter& out) const {
    out.key("Nodes").begin_object();
    for (const auto& [name, value] : nodes.others)
      out.key(name).raw(value);
    out.key("items").begin_array();
    for (std::size_t i = 0; i < kept.size(); ++i)
      if (passes(reply.verdicts[i])) out.raw(nodes.items[kept[i]]);
    out.end_array().end_object();
  }
};

std::size_t name_limit(const NodeNames* known) {
  constexpr std::size_t kLeast = 50'000;
  return known == nullptr ? kLeast : std::max(kLeast, 2 * known->size() + 1'000);
}

ExtenderCodec::ExtenderCodec(GpuCatalog catalog, const HashKey& key)
    : impl_(std::make_unique<Impl>(Impl{std::move(catalog), {}, 0, {}, NameTable(key), {}})) {}
ExtenderCodec::~ExtenderCodec() = default;

Result<Decoded<NodesRequest>> ExtenderCodec::decode_nodes(
    std::string_view body, const std::shared_ptr<const NodeNames>& known) {
  impl_->body_size = body.size();
  if (known != nullptr && known->plain())
    if (auto decoded = impl_->decode_known(body, known)) return *std::move(decoded);
  SLACKLINE_ASSIGN(const JsonView root, impl_->document.parse(body));
  impl_->kept.clear();
  Decoded<NodesRequest> out;
  if (!root.is_object())
    return fail(ErrorCode::kInvalidArgument, "the body is JSON, but not an ExtenderArgs object");
  const JsonView pod = root.find_any_case("Pod");
  if (!pod.is_object()) {
    out.refusal = kPodMissing;
    return out;
  }
  const JsonView names = root.find_any_case("NodeNames");
  const JsonView nodes = root.find_any_case("Nodes");
  const std::size_t count = (names.present() ? names : nodes["items"]).items().count();
  if (const std::size_t most = name_limit(known.get()); count > most) {
    refuse_too_many(count, most, out);
    return out;
  }
  out.request.pod = read_pod(pod, impl_->catalog);
  if (names.present()) {
    out.refusal = read_names(names, impl_->seen, out.request);
  } else if (nodes.present()) {
    out.request.full_objects = true;
    out.refusal = read_nodes(nodes, impl_->seen, out.request, impl_->kept);
  } else {
    out.refusal = "NodeNames and Nodes are both null: one of them names the nodes to judge";
  }
  return out;
}

Result<Decoded<PreemptRequest>> ExtenderCodec::decode_preempt(
    std::string_view body, const std::shared_ptr<const NodeNames>& known) {
  SLACKLINE_ASSIGN(const JsonView root, impl_->document.parse(body));
  if (!root.is_object())
    return fail(ErrorCode::kInvalidArgument,
                "the body is JSON, but not an ExtenderPreemptionArgs object");
  Decoded<PreemptRequest> out;
  const JsonView pod = root.find_any_case("Pod");
  if (!pod.is_object()) {
    out.refusal = kPodMissing;
    return out;
  }
  const JsonView metas = root.find_any_case("NodeNameToMetaVictims");
  const bool meta = metas.present();
  const JsonView map = meta ? metas : root.find_any_case("NodeNameToVictims");
  if (!map.is_object()) {
    out.refusal = "neither NodeNameToVictims nor NodeNameToMetaVictims is an object";
    return out;
  }
  std::size_t count = 0;
  for ([[maybe_unused]] const JsonField field : map.fields())
    ++count;
  if (const std::size_t most = name_limit(known.get()); count > most) {
    refuse_too_many(count, most, out);
    return out;
  }
  out.request.pod = read_pod(pod, impl_->catalog);
  impl_->seen.reset(count);
  for (const auto& [node, victims] : map.fields()) {
    if (!impl_->seen.insert(node)) continue;
    out.refusal = read_victims(node, victims, meta, out.request.candidates.emplace_back());
    if (!out.refusal.empty()) return out;
  }
  return out;
}

Result<Decoded<BindRequest>> ExtenderCodec::decode_bind(std::string_view body) {
  SLACKLINE_ASSIGN(const JsonView root, impl_->document.parse(body));
  if (!root.is_object())
    return fail(ErrorCode::kInvalidArgument,
                "the body is JSON, but not an ExtenderBindingArgs object");
  Decoded<BindRequest> out;
  const auto required = [&](std::string_view field) {
    const std::string_view value = root.find_any_case(field).text();
    if (value.empty() && out.refusal.empty()) out.refusal = format("{} is missing or empty", field);
    return std::string(value);
  };
  out.request.pod.name = required("PodName");
  out.request.pod.ns = required("PodNamespace");
  out.request.uid = Uid(required("PodUID"));
  out.request.node = NodeName(required("Node"));
  return out;
}

std::string ExtenderCodec::encode_filter(const NodesRequest& request,
                                         const FilterReply& reply) const {
  if (!reply.error.empty()) return encode_filter_error(reply.error);
  if (reply.verdicts.size() != request.node_names.size())
    return encode_filter_error("internal error: not every node was judged");
  JsonWriter out(impl_->reply_size(reply));
  out.begin_object();
  if (request.full_objects) {
    const NodeListSlices nodes = slice_nodes(impl_->document.source());
    const bool whole = request.node_names.size() == impl_->kept.size() &&
                       (impl_->kept.empty() || impl_->kept.back() < nodes.items.size());
    if (!whole) return encode_filter_error("Nodes is written in a way that cannot be echoed");
    impl_->write_node_list(nodes, reply, out);
    out.key("NodeNames").null();
  } else {
    out.key("Nodes").null();
    out.key("NodeNames");
    write_passing(request, reply, out);
  }
  out.key("FailedNodes");
  write_failed(request, reply, false, out);
  out.key("FailedAndUnresolvableNodes");
  write_failed(request, reply, true, out);
  out.field("Error", "").end_object();
  return out.take();
}

std::string ExtenderCodec::encode_prioritize(const NodesRequest& request,
                                             const PrioritizeReply& reply) const {
  JsonWriter out(reply.scores.size() * 96 + 2);
  out.begin_array();
  for (const HostScore& score : reply.scores)
    if (score.node < request.node_names.size())
      out.begin_object()
          .field("Host", request.node_names[score.node])
          .field("Score", score.score)
          .end_object();
  out.end_array();
  return out.take();
}

std::string encode_filter_error(std::string_view error) {
  JsonWriter out;
  out.begin_object().key("Nodes").null().key("NodeNames").null();
  out.key("FailedNodes").begin_object().end_object();
  out.key("FailedAndUnresolvableNodes").begin_object().end_object();
  out.field("Error", error).end_object();
  return out.take();
}

std::string encode_preempt(const PreemptReply& reply) {
  JsonWriter out;
  out.begin_object().key("NodeNameToMetaVictims").begin_object();
  for (const NodeVictims& node : reply.nodes) {
    out.key(node.node).begin_object().key("Pods").begin_array();
    for (const Uid& uid : node.victims)
      out.begin_object().field("UID", uid.str()).end_object();
    out.end_array().field("NumPDBViolations", node.pdb_violations).end_object();
  }
  out.end_object().end_object();
  return out.take();
}

std::string encode_bind(const BindReply& reply) {
  JsonWriter out;
  out.begin_object().field("Error", reply.error).end_object();
  return out.take();
}

}  // namespace slackline::wire
