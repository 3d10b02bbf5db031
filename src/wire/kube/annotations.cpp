#include "wire/kube/annotations.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <string>

#include "slackline/base/duration.h"
#include "slackline/base/spelling.h"
#include "slackline/base/text.h"
#include "slackline/model/sample.h"
#include "wire/format/json_view.h"
#include "wire/kube/own_write_codec.h"
#include "wire/kube/sealed_text.h"

namespace slackline::wire {
namespace {

constexpr std::size_t kMaxListed = 64;
constexpr std::size_t kMostIntentProblems = 32;

// One key: its value, and where to report problems.
struct Entry {
  std::string_view key;  // without the prefix
  std::string_view value;
  TaskIntent& intent;

  void complain(std::string_view remedy) const {
    if (intent.problems.size() >= kMostIntentProblems) return;
    intent.problems.push_back(
        format("{}{}: \"{}\": {}", kPrefix, key, printable(value, 64), remedy));
  }
};

void read_name(const Entry& entry, std::optional<std::string>& out) {
  const bool clean = std::all_of(entry.value.begin(), entry.value.end(), [](char c) {
    return static_cast<unsigned char>(c) >= 0x20 && c != 0x7f;
  });
  if (entry.value.empty() || entry.value.size() > kMaxName || !clean)
    return entry.complain("write a name of 1 to 253 printable characters");
  out = std::string(entry.value);
}

bool is_count(std::string_view text, std::int64_t most) {
  const auto value = parse_int(text);
  return value && *value >= 1 && *value <= most;
}

// The largest gang (core/cluster/task_catalog.h), and the most pods of a Job at once.
constexpr std::int64_t kMaxPods = 65536;

void read_gang_size(const Entry& entry) {
  if (!is_count(entry.value, kMaxPods))
    return entry.complain("write how many pods the gang has, from 1 to 65536, e.g. \"8\"");
  entry.intent.gang_size = *parse_int(entry.value);
}

// A documented key without an effect yet: people are told so, or that its value is wrong.
void read_ahead(const Entry& entry, bool good, std::string_view remedy) {
  entry.complain(good ? "this key has no effect yet; remove it" : remedy);
}

void read_replicas(const Entry& entry) {
  read_ahead(entry, is_count(entry.value, kMaxPods),
             "write a whole number from 1 to 65536; this key has no effect yet");
}

void read_weight(const Entry& entry) {
  const auto value = parse_number(entry.value);
  read_ahead(entry, value && std::isfinite(*value) && *value > 0,
             "write a number above zero, e.g. \"2\"; this key has no effect yet");
}

void read_resize(const Entry& entry) {
  const auto mode = resize_mode_named(entry.value);
  if (!mode) return entry.complain("write off, advise or auto");
  entry.intent.resize = mode;
}

bool is_variant_field(const JsonField& field) {
  const JsonView value = field.value;
  const auto each = [&value](auto good) {
    if (!value.is_object()) return false;
    for (const auto& [name, item] : value.fields())
      if (!good(item)) return false;
    return true;
  };
  if (field.key == "id") return value.is_string();
  if (field.key == "share") return value.number() && *value.number() > 0 && *value.number() <= 100;
  if (field.key == "batch") return value.integer() && *value.integer() > 0;
  if (field.key == "speed")
    return each([](JsonView speed) { return speed.number() && *speed.number() > 0; });
  return field.key == "env" && each([](JsonView text) { return text.is_string(); });
}

bool are_variants(std::string_view text) {
  constexpr std::size_t kMostVariants = 8;
  JsonDocument document;
  const auto root = document.parse(text);
  if (!root || !root->is_array()) return false;
  std::set<std::string_view> ids;
  for (const JsonView variant : root->items()) {
    for (const JsonField& field : variant.fields())
      if (!is_variant_field(field)) return false;
    const std::string_view id = variant["id"].text();
    if (id.empty() || !ids.insert(id).second) return false;
  }
  return !ids.empty() && ids.size() <= kMostVariants;
}

void read_variants(const Entry& entry) {
  read_ahead(entry, are_variants(entry.value),
             R"(write 1 to 8 variants, each with an id of its own, e.g. [{"id":"b256","share":100,)"
             R"("batch":256,"speed":{"P100":412},"env":{"BATCH":"256"}}]; this key has no effect )"
             "yet");
}

void read_count(const Entry& entry, std::optional<std::int64_t>& out) {
  constexpr std::int64_t kMax = 1'000'000'000'000;
  const auto value = parse_int(entry.value);
  if (!value || *value < 1 || *value > kMax)
    return entry.complain("write a whole number from 1 to 1000000000000, e.g. \"256\"");
  out = *value;
}

void read_model_parallel(const Entry& entry) {
  if (!is_count(entry.value, kMostModelParallel))
    return entry.complain(
        "write how many GPUs share one copy of the model (tensor x pipeline x context parallel), "
        "from 1 to 65536, e.g. \"8\"");
  entry.intent.model_parallel = *parse_int(entry.value);
}

void read_tokens_per_sample(const Entry& entry) {
  constexpr std::int64_t kMostTokens = 1'000'000'000;
  if (!is_count(entry.value, kMostTokens))
    return entry.complain("write the tokens of a sample, from 1 to 1000000000, e.g. \"8192\"");
  entry.intent.tokens_per_sample = *parse_int(entry.value);
}

void read_tokens(const Entry& entry) {
  constexpr std::int64_t kMostTokens = 1'000'000'000'000'000;
  if (!is_count(entry.value, kMostTokens))
    return entry.complain(
        "write how many tokens the task trains on, up to 1000000000000000, e.g. \"2000000000\"");
  entry.intent.tokens = *parse_int(entry.value);
}

void read_duration(const Entry& entry, std::optional<double>& out) {
  const auto value = parse_duration_s(entry.value);
  if (!value) return entry.complain(duration_advice(entry.value));
  if (*value <= 0) return entry.complain("write a duration above zero, e.g. \"3h30m\"");
  out = *value;
}

void read_time(const Entry& entry, std::optional<double>& out) {
  const auto value = parse_rfc3339_s(entry.value);
  if (!value) return entry.complain("write an RFC 3339 time, e.g. \"2026-11-21T12:00:00Z\"");
  out = *value;
}

void read_mode(const Entry& entry) {
  if (entry.value == "training")
    entry.intent.mode = WorkloadMode::kTraining;
  else if (entry.value == "inference")
    entry.intent.mode = WorkloadMode::kInference;
  else
    entry.complain("write training or inference");
}

void read_failure_policy(const Entry& entry) {
  if (entry.value != "off" && entry.value != "auto") return entry.complain("write off or auto");
  entry.intent.own_failure_policy = entry.value == "off";
}

void read_qos(const Entry& entry) {
  const auto qos = qos_class_of(entry.value);
  if (!qos) return entry.complain("write urgent, prior or normal");
  entry.intent.qos_class = qos;
}

void read_gpu_types(const Entry& entry) {
  if (entry.value == "any") {
    entry.intent.any_gpu_type = true;
    return;
  }
  std::vector<GpuType> types;
  for (const std::string_view piece : split(entry.value, ',')) {
    const GpuType type(piece);
    if (piece == "any")
      return entry.complain("any stands alone; list GPU types, or write any and nothing else");
    if (piece.empty() || piece.size() > kMaxName || types.size() == kMaxListed)
      return entry.complain("list GPU types in order of preference, e.g. \"A100,V100\", or any");
    if (std::find(types.begin(), types.end(), type) == types.end()) types.push_back(type);
  }
  entry.intent.gpu_types = std::move(types);
}

void read_type_of_duration(const Entry& entry) {
  if (entry.value.empty() || entry.value.size() > kMaxName || entry.value == "any" ||
      entry.value.find(',') != std::string_view::npos)
    return entry.complain("name the one GPU type that expected-duration holds for, e.g. \"A100\"");
  entry.intent.expected_duration_on = GpuType(entry.value);
}

void read_placements(const Entry& entry) {
  if (entry.value == "auto") {
    entry.intent.any_placement = true;
    return;
  }
  std::vector<Placement> shapes;
  for (const std::string_view piece : split(entry.value, ',')) {
    const auto shape = parse_placement(piece);
    if (!shape || shapes.size() == kMaxListed)
      return entry.complain("list shapes as nodes x GPUs per node, e.g. \"1x4,2x2\", or auto");
    if (std::find(shapes.begin(), shapes.end(), *shape) == shapes.end()) shapes.push_back(*shape);
  }
  entry.intent.placements = std::move(shapes);
}

bool is_object_name(std::string_view name) {
  return !name.empty() && name.size() <= kMaxName &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
         });
}

void read_depends_on(const Entry& entry) {
  std::vector<std::string> jobs;
  for (const std::string_view piece : split(entry.value, ',')) {
    const std::string_view name = trim(piece);
    if (!is_object_name(name) || jobs.size() == kMaxListed)
      return entry.complain("list at most 64 Jobs of this namespace by name, e.g. \"prep,clean\"");
    if (std::find(jobs.begin(), jobs.end(), name) == jobs.end()) jobs.emplace_back(name);
  }
  entry.intent.depends_on = std::move(jobs);
}

void read_hold(const Entry& entry) {
  if (entry.value != "true" && entry.value != "false")
    return entry.complain("write true to hold the task back, or false");
  entry.intent.hold = entry.value == "true";
}

void read_calibration(const Entry& entry) {
  if (entry.value != contract::kCalibrationAllowed && entry.value != contract::kCalibrationRun)
    entry.complain("write \"allowed\", or leave the label away: then no calibration run is made");
}

struct KeyReader {
  std::string_view key;  // without the prefix
  void (*read)(const Entry&);
};

// Of the keys that people write on tasks (contract::kKeys) those that say something of the task.
constexpr std::array kReaders = {
    KeyReader{"model", [](const Entry& e) { read_name(e, e.intent.model); }},
    KeyReader{"mode", read_mode},
    KeyReader{"batch-size", [](const Entry& e) { read_count(e, e.intent.batch_size); }},
    KeyReader{"iterations", [](const Entry& e) { read_count(e, e.intent.iterations); }},
    KeyReader{"model-parallel", read_model_parallel},
    KeyReader{"tokens-per-sample", read_tokens_per_sample},
    KeyReader{"tokens", read_tokens},
    KeyReader{"expected-duration",
              [](const Entry& e) { read_duration(e, e.intent.expected_duration_s); }},
    KeyReader{"expected-duration-on", read_type_of_duration},
    KeyReader{"qos-class", read_qos},
    KeyReader{"deadline", [](const Entry& e) { read_time(e, e.intent.deadline_s); }},
    KeyReader{"deadline-after",
              [](const Entry& e) { read_duration(e, e.intent.deadline_after_s); }},
    KeyReader{"gpu-types", read_gpu_types},
    KeyReader{"placements", read_placements},
    KeyReader{"gang", [](const Entry& e) { read_name(e, e.intent.gang); }},
    KeyReader{"gang-size", read_gang_size},
    KeyReader{"family", [](const Entry& e) { read_name(e, e.intent.family); }},
    KeyReader{"queue", [](const Entry& e) { read_name(e, e.intent.queue); }},
    KeyReader{"depends-on", read_depends_on},
    KeyReader{"hold", read_hold},
    KeyReader{"checkpoint-interval",
              [](const Entry& e) { read_duration(e, e.intent.checkpoint_interval_s); }},
    KeyReader{"last-checkpoint-time",
              [](const Entry& e) { read_time(e, e.intent.last_checkpoint_s); }},
    KeyReader{"pod-failure-policy", read_failure_policy},
    KeyReader{"calibration", read_calibration},
    KeyReader{"resize", read_resize},
    KeyReader{"weight", read_weight},
    KeyReader{"min-replicas", read_replicas},
    KeyReader{"max-replicas", read_replicas},
    KeyReader{"variants", read_variants},
};

constexpr bool is_written_by_people(std::string_view key) {
  return std::any_of(contract::kKeys.begin(), contract::kKeys.end(), [&](const contract::Key& one) {
    return one.name.substr(kPrefix.size()) == key && one.writer == contract::Writer::kPeople;
  });
}
static_assert(std::all_of(kReaders.begin(), kReaders.end(), [](const KeyReader& reader) {
  return is_written_by_people(reader.key);
}));

std::string did_you_mean(std::string_view key) {
  std::vector<std::string_view> names;
  for (const contract::Key& candidate : contract::kKeys)
    if (candidate.writer == contract::Writer::kPeople)
      names.push_back(candidate.name.substr(kPrefix.size()));
  const auto nearest = nearest_spelling(key, names);
  return nearest ? format("; did you mean {}{}?", kPrefix, *nearest) : "";
}

// True if the key says something about the task, or was meant to.
bool read_key(const Entry& entry, std::string_view name, contract::KeyKind kind) {
  const contract::Key* key = contract::find_key(name);
  if (key == nullptr) {
    entry.complain(format("unknown key{}", did_you_mean(entry.key)));
    return true;
  }
  const auto* reader = std::find_if(kReaders.begin(), kReaders.end(),
                                    [&](const KeyReader& one) { return one.key == entry.key; });
  if (reader == kReaders.end()) return false;
  if (key->kind != kind) {
    const bool label = key->kind == contract::KeyKind::kLabel;
    entry.complain(format("write it as {}", label ? "a label" : "an annotation"));
    return true;
  }
  reader->read(entry);
  return true;
}

bool read_all(const TextPairs& pairs, contract::KeyKind kind, TaskIntent& intent) {
  bool any = false;
  for (const auto& [key, value] : pairs)
    if (key.starts_with(kPrefix))
      any |= read_key(Entry{key.substr(kPrefix.size()), trim(value), intent}, key, kind);
  return any;
}

}  // namespace

std::shared_ptr<const TaskIntent> read_intent(const TextPairs& annotations,
                                              const TextPairs& labels) {
  TaskIntent intent;
  bool any = read_all(annotations, contract::KeyKind::kAnnotation, intent);
  any |= read_all(labels, contract::KeyKind::kLabel, intent);
  for (const auto& [key, value] : labels) {
    if (key != kKueueQueueLabel || intent.queue || value.empty()) continue;
    intent.queue = std::string(value);
    any = true;
  }
  for (const auto& [key, value] : annotations) {
    if (key != contract::kPlan) continue;
    if (const auto plan = read_plan(value); !plan) {
      intent.problems.push_back(format("{}: {}", contract::kPlan, plan.error().message));
      any = true;
    }
  }
  count_iterations(intent);
  return any ? std::make_shared<const TaskIntent>(std::move(intent)) : nullptr;
}

Result<PlanNote> read_plan(std::string_view text) {
  constexpr std::size_t kMaxPlanBytes = std::size_t{256} << 10;
  if (text.size() > kMaxPlanBytes)
    return fail(ErrorCode::kInvalidArgument, "longer than 256 KiB; only Slackline writes it");
  JsonDocument document;
  SLACKLINE_ASSIGN(const JsonView root, document.parse(text));
  PlanNote plan;
  plan.id = std::string(root["id"].text());
  if (plan.id.empty())
    return fail(ErrorCode::kInvalidArgument, "id is missing; only Slackline writes it");
  const auto shape = parse_placement(root["shape"].text());
  if (!shape) return fail(shape.error().with_context("shape"));
  plan.shape = *shape;
  plan.epoch = root["epoch"].integer().value_or(0);
  plan.gpu_type = GpuType(root["type"].text());
  for (const JsonView node : root["nodes"].items())
    if (!node.text().empty()) plan.nodes.emplace_back(node.text());
  if (plan.nodes.empty()) return fail(ErrorCode::kInvalidArgument, "nodes names no node");
  plan.promoted = root["promoted"].is_true();
  plan.predicted_s = root["predictedSeconds"].number();
  plan.checkpoint_interval_s = root["checkpointSeconds"].number();
  plan.work_s = root["workSeconds"].number();
  plan.asked = std::string(root["asked"].text());
  plan.generation = root["generation"].integer();
  plan.resize = read_resize_note(root["resize"]);
  plan.band = std::string(root["band"].text());
  plan.later =
      std::clamp<std::int64_t>(root["later"].integer().value_or(0), 0, std::ssize(plan.nodes) - 1);
  plan.value_hash = fingerprint(text);
  SealedText sealed = split_seal(text);
  plan.text = std::move(sealed.text);
  plan.code = std::move(sealed.code);
  return plan;
}

}  // namespace slackline::wire
