#include "wire/samples/profile_codec.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <type_traits>
#include <utility>

#include "slackline/base/text.h"
#include "slackline/model/sample.h"
#include "wire/format/document.h"
#include "wire/format/json_writer.h"

namespace slackline::wire {
namespace {

constexpr std::string_view kApiVersion = "config.slackline.dev/v1alpha1";
constexpr double kImportedStartup_s = 30.0;  // the constant v of 000 eq 4; the import form has none
constexpr std::size_t kMaxParams = 64;
constexpr double kMostCount = 1e9;    // of batches, GPUs, nodes, runs
constexpr double kLeastRatio = 1e-6;  // of a correction

tl::unexpected<Error> wrong(const Document& at, std::string_view what) {
  return fail(ErrorCode::kInvalidArgument,
              format("line {}: {}: {}", at.line, at.path.empty() ? "the file" : at.path, what));
}

using Keys = std::initializer_list<std::string_view>;

Status check_keys(const Document& map, Keys allowed) {
  if (map.kind != Document::Kind::kMap) return wrong(map, "must be a map");
  for (const DocumentField& field : map.fields) {
    if (std::find(allowed.begin(), allowed.end(), field.key) == allowed.end())
      return wrong(field.value, format("unknown key; allowed: {}", fmt::join(allowed, ", ")));
    if (map.find(field.key) != &field.value) return wrong(field.value, "given twice");
  }
  return {};
}

// The value of a required key.
Result<const Document*> required(const Document& map, std::string_view key) {
  const Document* value = map.find(key);
  if (value == nullptr || value->kind == Document::Kind::kNull)
    return wrong(map, format("{} is missing", key));
  return value;
}

Result<std::string> read_text(const Document& map, std::string_view key) {
  SLACKLINE_ASSIGN(const Document* value, required(map, key));
  if (value->kind != Document::Kind::kScalar || value->scalar.empty())
    return wrong(*value, "must be a string");
  return value->scalar;
}

Result<double> read_number(const Document& value, double least) {
  const auto number = value.kind == Document::Kind::kScalar && !value.quoted
                          ? parse_number(value.scalar)
                          : Result<double>(fail(ErrorCode::kInvalidArgument, ""));
  if (!number) return wrong(value, "must be a number");
  if (*number < least) return wrong(value, format("must be at least {}", least));
  return *number;
}

constexpr double kAnyNumber = std::numeric_limits<double>::lowest();

// Null or absent keeps the old value.
template <class T>
Status read_optional(const Document& map, std::string_view key, double least, T& out) {
  const Document* value = map.find(key);
  if (value == nullptr || value->kind == Document::Kind::kNull) return {};
  SLACKLINE_ASSIGN(const double number, read_number(*value, least));
  out = static_cast<T>(number);
  return {};
}

Result<std::vector<double>> read_numbers(const Document& map, std::string_view key,
                                         double least = kAnyNumber) {
  SLACKLINE_ASSIGN(const Document* list, required(map, key));
  if (list->kind != Document::Kind::kList || list->items.empty() || list->items.size() > kMaxParams)
    return wrong(*list, format("must be a list of 1 to {} numbers", kMaxParams));
  std::vector<double> numbers;
  for (const Document& item : list->items) {
    SLACKLINE_ASSIGN(const double number, read_number(item, least));
    numbers.push_back(number);
  }
  return numbers;
}

Status check_whole(const Document& at, double number) {
  if (number == std::floor(number)) return {};
  return wrong(at, "must be a whole number");
}

// [smallest, largest]; null or absent keeps the old value.
template <class Range>
Status read_range(const Document& map, std::string_view key, std::optional<Range>& out) {
  const Document* range = map.find(key);
  if (range == nullptr || range->kind == Document::Kind::kNull) return {};
  SLACKLINE_ASSIGN(const auto bounds, read_numbers(map, key, 0));
  if (bounds.size() != 2 || bounds[0] > bounds[1])
    return wrong(*range, "must be [smallest, largest]");
  using Number = decltype(Range::least);
  for (const double bound : bounds)
    if (std::is_integral_v<Number>) SLACKLINE_TRY(check_whole(*range, bound));
  if (bounds[1] > kMostCount) return wrong(*range, format("must be at most {}", kMostCount));
  out = Range{static_cast<Number>(bounds[0]), static_cast<Number>(bounds[1])};
  return {};
}

// A whole number of at least 1.
Result<int> read_count(const Document& map, std::string_view key) {
  SLACKLINE_ASSIGN(const Document* value, required(map, key));
  SLACKLINE_ASSIGN(const double number, read_number(*value, 1));
  if (number != std::floor(number) || number > kMostCount)
    return wrong(*value, format("must be a whole number, at most {}", kMostCount));
  return static_cast<int>(number);
}

Result<Correction> read_correction(const Document& map) {
  SLACKLINE_TRY(check_keys(map, {"nodes", "gpus", "ratio", "runs"}));
  Correction correction;
  SLACKLINE_ASSIGN(correction.nodes, read_count(map, "nodes"));
  SLACKLINE_ASSIGN(correction.gpus, read_count(map, "gpus"));
  SLACKLINE_ASSIGN(correction.runs, read_count(map, "runs"));
  SLACKLINE_ASSIGN(const Document* ratio, required(map, "ratio"));
  SLACKLINE_ASSIGN(correction.ratio, read_number(*ratio, kLeastRatio));
  return correction;
}

Result<std::vector<Correction>> read_corrections(const Document& map) {
  std::vector<Correction> corrections;
  const Document* list = map.find("corrections");
  if (list == nullptr || list->kind == Document::Kind::kNull) return corrections;
  if (list->kind != Document::Kind::kList) return wrong(*list, "must be a list");
  const auto key = [](const Correction& c) { return std::pair(c.nodes, c.gpus); };
  for (const Document& item : list->items) {
    SLACKLINE_ASSIGN(const Correction correction, read_correction(item));
    if (!corrections.empty() && key(corrections.back()) >= key(correction))
      return wrong(item, "corrections go by (nodes, gpus) ascending, each once");
    corrections.push_back(correction);
  }
  return corrections;
}

Result<ProfileEntry> read_entry(const Document& map) {
  SLACKLINE_TRY(
      check_keys(map, {"model", "gpuType", "coefficients", "startup_s", "points", "held_out_mape",
                       "held_out_p90", "batch_range", "gpus_range", "nodes_range", "model_parallel",
                       "model_parallel_derived", "family", "corrections", "source"}));
  ProfileEntry entry;
  SLACKLINE_ASSIGN(entry.model, read_text(map, "model"));
  SLACKLINE_ASSIGN(const std::string gpu_type, read_text(map, "gpuType"));
  entry.gpu_type = GpuType(gpu_type);
  SLACKLINE_ASSIGN(const Document* coefficients, required(map, "coefficients"));
  SLACKLINE_TRY(check_keys(*coefficients, {"kind", "params"}));
  SLACKLINE_ASSIGN(entry.coefficients.kind, read_text(*coefficients, "kind"));
  SLACKLINE_ASSIGN(entry.coefficients.params, read_numbers(*coefficients, "params"));
  SLACKLINE_TRY(read_optional(map, "startup_s", 0, entry.startup_s));
  double points = 0;
  SLACKLINE_TRY(read_optional(map, "points", 0, points));
  if (const Document* at = map.find("points"); at != nullptr)
    SLACKLINE_TRY(check_whole(*at, points));
  entry.points = static_cast<int>(std::min(points, 1e9));
  double mape = -1;
  SLACKLINE_TRY(read_optional(map, "held_out_mape", 0, mape));
  if (mape >= 0) entry.held_out_mape = mape;
  double p90 = -1;
  SLACKLINE_TRY(read_optional(map, "held_out_p90", 0, p90));
  if (p90 >= 0) entry.held_out_p90 = p90;
  SLACKLINE_TRY(read_range(map, "batch_range", entry.batch_range));
  SLACKLINE_TRY(read_range(map, "gpus_range", entry.gpus_range));
  SLACKLINE_TRY(read_range(map, "nodes_range", entry.nodes_range));
  if (map.find("model_parallel") != nullptr) {
    SLACKLINE_ASSIGN(entry.model_parallel, read_count(map, "model_parallel"));
    if (entry.model_parallel > kMostModelParallel)
      return wrong(*map.find("model_parallel"), format("must be at most {}", kMostModelParallel));
  }
  if (const Document* derived = map.find("model_parallel_derived"); derived != nullptr) {
    if (derived->scalar != "true" && derived->scalar != "false")
      return wrong(*derived, "must be true or false");
    entry.model_parallel_derived = derived->scalar == "true";
  }
  if (map.find("family") != nullptr) {
    SLACKLINE_ASSIGN(entry.family, read_text(map, "family"));
  }
  SLACKLINE_ASSIGN(entry.corrections, read_corrections(map));
  if (const Document* source = map.find("source"); source != nullptr) entry.source = source->scalar;
  return entry;
}

Result<std::vector<ProfileEntry>> read_entries(const Document& root) {
  SLACKLINE_TRY(check_keys(root, {"apiVersion", "kind", "metadata", "entries"}));
  SLACKLINE_ASSIGN(const std::string version, read_text(root, "apiVersion"));
  if (version != kApiVersion)
    return wrong(*root.find("apiVersion"), format("must be {}", kApiVersion));
  SLACKLINE_ASSIGN(const Document* list, required(root, "entries"));
  if (list->kind != Document::Kind::kList) return wrong(*list, "must be a list");
  std::vector<ProfileEntry> entries;
  for (const Document& item : list->items) {
    SLACKLINE_ASSIGN(ProfileEntry entry, read_entry(item));
    entries.push_back(std::move(entry));
  }
  return entries;
}

// "profile_k80.json" -> K80
GpuType type_of_file(const std::string& file) {
  std::string name = file.substr(file.find_last_of('/') + 1);
  name = name.substr(0, name.find_last_of('.'));
  name = name.substr(name.find_last_of('_') + 1);
  for (char& c : name)
    c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return GpuType(name);
}

Result<std::vector<ProfileEntry>> read_import(const Document& root, const GpuType& gpu_type,
                                              const std::string& file) {
  SLACKLINE_TRY(check_keys(root, {"kind", "comm", "types"}));
  if (const Document* comm = root.find("comm"); comm != nullptr && comm->scalar != "sum")
    return wrong(*comm, "only the \"sum\" reading of 000 eq 8 is known");
  SLACKLINE_ASSIGN(const Document* types, required(root, "types"));
  if (types->kind != Document::Kind::kMap) return wrong(*types, "must be a map of models");
  std::vector<ProfileEntry> entries;
  for (const auto& [model, fields] : types->fields) {
    SLACKLINE_TRY(check_keys(fields, {"k", "gamma", "lam", "batch", "iters"}));
    ProfileEntry entry;
    entry.model = model;
    entry.gpu_type = gpu_type;
    entry.coefficients.kind = "S";
    SLACKLINE_ASSIGN(entry.coefficients.params, read_numbers(fields, "k"));
    if (entry.coefficients.params.size() != 3)
      return wrong(*fields.find("k"), "must be [k0, k1, k2]");
    for (const std::string_view key : {"gamma", "lam"}) {
      SLACKLINE_ASSIGN(const Document* value, required(fields, key));
      SLACKLINE_ASSIGN(const double number, read_number(*value, kAnyNumber));
      entry.coefficients.params.push_back(number);
    }
    entry.startup_s = kImportedStartup_s;
    entry.source = format("imported from {}", file.substr(file.find_last_of('/') + 1));
    entries.push_back(std::move(entry));
  }
  return entries;
}

Result<std::vector<ProfileEntry>> read_root(const Document& root, const GpuType& gpu_type,
                                            const std::string& file) {
  if (root.kind != Document::Kind::kMap) return wrong(root, "must be a map");
  SLACKLINE_ASSIGN(const std::string kind, read_text(root, "kind"));
  if (kind == "WorkloadProfile") return read_entries(root);
  if (kind == "seed")
    return read_import(root, gpu_type.empty() ? type_of_file(file) : gpu_type, file);
  return wrong(*root.find("kind"), "must be WorkloadProfile (or seed, the import form)");
}

}  // namespace

Result<std::vector<ProfileEntry>> read_profile(std::string_view text, const std::string& file,
                                               const GpuType& gpu_type) {
  const auto root = read_document(text);
  if (!root)
    return fail(ErrorCode::kInvalidArgument,
                format("{}: line {}: {}", file, root.error().line, root.error().message));
  auto entries = read_root(*root, gpu_type, file);
  if (!entries) return fail(entries.error().with_context(file));
  return entries;
}

namespace {

void write_percent(std::string_view key, const std::optional<double>& percent, JsonWriter& json) {
  json.key(key);
  percent ? json.number(*percent) : json.null();
}

template <class Range>
void write_range(std::string_view key, const std::optional<Range>& range, JsonWriter& json) {
  if (range) json.key(key).begin_array().number(range->least).number(range->most).end_array();
}

void write_corrections(const std::vector<Correction>& corrections, JsonWriter& json) {
  if (corrections.empty()) return;
  json.key("corrections").begin_array();
  for (const Correction& correction : corrections)
    json.begin_object()
        .field("nodes", correction.nodes)
        .field("gpus", correction.gpus)
        .field("ratio", correction.ratio)
        .field("runs", correction.runs)
        .end_object();
  json.end_array();
}

std::string write_entry(const ProfileEntry& entry) {
  JsonWriter json;
  json.begin_object().field("model", entry.model).field("gpuType", entry.gpu_type.str());
  json.key("coefficients").begin_object().field("kind", entry.coefficients.kind);
  json.key("params").begin_array();
  for (const double param : entry.coefficients.params)
    json.number(param);
  json.end_array().end_object();
  json.field("startup_s", entry.startup_s).field("points", entry.points);
  write_percent("held_out_mape", entry.held_out_mape, json);
  if (entry.held_out_p90) write_percent("held_out_p90", entry.held_out_p90, json);
  write_range("batch_range", entry.batch_range, json);
  write_range("gpus_range", entry.gpus_range, json);
  write_range("nodes_range", entry.nodes_range, json);
  if (entry.model_parallel > 1) {
    json.field("model_parallel", entry.model_parallel);
    if (entry.model_parallel_derived) json.field("model_parallel_derived", true);
  }
  if (!entry.family.empty()) json.field("family", entry.family);
  write_corrections(entry.corrections, json);
  json.field("source", entry.source).end_object();
  return std::string(json.str());
}

}  // namespace

std::string write_profile(const std::vector<ProfileEntry>& entries) {
  std::string out =
      format("{{\n  \"apiVersion\": \"{}\",\n  \"kind\": \"WorkloadProfile\",\n  \"entries\": [",
             kApiVersion);
  std::string_view separator = "\n    ";
  for (const ProfileEntry& entry : entries) {
    out += separator;
    out += write_entry(entry);
    separator = ",\n    ";
  }
  out += "\n  ]\n}\n";
  return out;
}

}  // namespace slackline::wire
