#include "wire/rest/model_codec.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <optional>

#include "slackline/base/duration.h"
#include "slackline/base/text.h"
#include "slackline/base/visible.h"
#include "wire/format/json_view.h"
#include "wire/samples/samples_csv.h"

namespace slackline::wire {
namespace {

constexpr std::size_t kMaxText = 4096;
constexpr std::size_t kMostListed = 20;
constexpr NumberRange kParameters{1, 1e18};
constexpr NumberRange kFlops{1, 1e30};

class Problems {
 public:
  void add(std::string_view path, std::string_view what) {
    if (++count_ <= kMostListed) listed_ += format("\n  {}: {}", path, what);
  }
  Status status() const {
    if (count_ == 0) return {};
    return fail(
        ErrorCode::kInvalidArgument,
        format("{} wrong, so nothing was stored:{}{}",
               count_ == 1 ? "1 field is" : format("{} fields are", count_), listed_,
               count_ > kMostListed ? format("\n  ... and {} more", count_ - kMostListed) : ""));
  }

 private:
  std::string listed_;
  std::size_t count_ = 0;
};

// One object of a body; `path` names it in problems.
class Fields {
 public:
  Fields(JsonView object, std::string path, Problems& problems)
      : object_(object), path_(std::move(path)), problems_(problems) {}

  bool check_keys(std::initializer_list<std::string_view> allowed) {
    if (!object_.is_object()) {
      problems_.add(path_.empty() ? "the body" : path_, "must be a JSON object");
      return false;
    }
    std::vector<std::string_view> seen;
    for (const auto& [key, value] : object_.fields()) {
      if (std::find(allowed.begin(), allowed.end(), key) == allowed.end())
        problems_.add(path_of(printable(key, 64)),
                      format("unknown key; allowed: {}", fmt::join(allowed, ", ")));
      else if (std::find(seen.begin(), seen.end(), key) != seen.end())
        problems_.add(path_of(key), "given twice");
      else
        seen.push_back(key);
    }
    return true;
  }

  std::string text(std::string_view key, std::size_t most, bool required) {
    const JsonView value = object_[key];
    if (!value.present()) {
      if (required) problems_.add(path_of(key), "is missing");
    } else if (!value.is_string()) {
      problems_.add(path_of(key), "must be a string");
    } else if (required && value.text().empty()) {
      problems_.add(path_of(key), "must not be empty");
    } else if (value.text().size() > most) {
      problems_.add(path_of(key), format("is longer than {} bytes", most));
    } else {
      return std::string(value.text());
    }
    return {};
  }

  // A text that becomes part of a key or of a table.
  std::string name(std::string_view key, std::size_t most, bool required) {
    std::string value = text(key, most, required);
    if (!has_unprintable(value)) return value;
    problems_.add(path_of(key), "must not contain control characters or invisible characters");
    return {};
  }

  // In [least, most], where given.
  std::optional<double> positive(std::string_view key, bool required,
                                 NumberRange range = kAnyRange) {
    const JsonView value = object_[key];
    if (!value.present()) {
      if (required) problems_.add(path_of(key), "is missing");
      return std::nullopt;
    }
    const auto number = value.number();
    const bool above = number && std::isfinite(*number) && *number > 0;
    if (above && range.holds(*number)) return number;
    problems_.add(path_of(key),
                  range.most == kAnyRange.most
                      ? "must be a number above 0"
                      : format("must be a number from {:g} to {:g}", range.least, range.most));
    return std::nullopt;
  }

  void wrong(std::string_view key, std::string_view what) { problems_.add(path_of(key), what); }

 private:
  std::string path_of(std::string_view key) const {
    return path_.empty() ? std::string(key) : format("{}.{}", path_, key);
  }

  JsonView object_;
  std::string path_;
  Problems& problems_;
};

SampleOrigin read_origin(Fields& fields) {
  const std::string text = fields.text("origin", kMaxName, false);
  for (const SampleOrigin origin :
       {SampleOrigin::kCalibration, SampleOrigin::kRun, SampleOrigin::kImport})
    if (to_string(origin) == text) return origin;
  if (!text.empty()) fields.wrong("origin", "must be calibration, run or import");
  return SampleOrigin::kImport;
}

ThroughputSample read_sample(Fields& fields, const std::string& model) {
  ThroughputSample sample;
  sample.model = model;
  if (!fields.check_keys(
          {"gpuType", "batch", "placement", "throughputSamplesPerS", "source", "origin"}))
    return sample;
  sample.gpu_type = GpuType(fields.name("gpuType", kMaxName, true));
  const auto batch = fields.positive("batch", true, kBatches);
  sample.batch = batch.value_or(0);
  const std::string placement = fields.text("placement", kMaxText, true);
  const auto layout = parse_layout(placement);
  if (layout)
    sample.layout = *layout;
  else if (!placement.empty())
    fields.wrong("placement", layout.error().message);
  if (layout && batch && *batch < layout->spread().gpus)
    fields.wrong("batch", format("{} is less than the {} GPUs of {}; it is the global batch, of "
                                 "all GPUs together",
                                 *batch, layout->spread().gpus, layout->str()));
  sample.throughput_samples_per_s =
      fields.positive("throughputSamplesPerS", true, kThroughputs).value_or(0);
  sample.source = fields.name("source", kMaxSource, false);
  sample.origin = read_origin(fields);
  return sample;
}

void encode_descriptor(JsonWriter& out, const ModelDescriptor& descriptor) {
  out.field("model", descriptor.model)
      .field("family", descriptor.family)
      .field("description", descriptor.description);
  if (descriptor.parameters) out.field("parameters", *descriptor.parameters);
  if (descriptor.flops_per_sample) out.field("flopsPerSample", *descriptor.flops_per_sample);
}

void encode_coefficients(JsonWriter& out, const ProfileEntry& entry) {
  out.field("kind", entry.coefficients.kind)
      .field("points", entry.points)
      .field("startupSeconds", entry.startup_s)
      .field("source", entry.source);
  if (entry.held_out_mape) out.field("heldOutMape", *entry.held_out_mape);
  if (entry.held_out_p90) out.field("heldOutP90", *entry.held_out_p90);
  out.key("corrections").begin_array();
  for (const Correction& correction : entry.corrections)
    out.begin_object()
        .field("nodes", correction.nodes)
        .field("gpus", correction.gpus)
        .field("observedOverPredicted", correction.ratio)
        .field("runs", correction.runs)
        .end_object();
  out.end_array();
}

void encode_type(JsonWriter& out, const ModelTypeView& type) {
  out.begin_object().field("gpuType", type.gpu_type.str());
  if (type.entry) {
    out.field("from", type.fitted_here ? "fitted here" : "profile");
    encode_coefficients(out, *type.entry);
  }
  out.field("version", type.version);
  if (type.fitted_s > 0) out.field("fitted", format_rfc3339(type.fitted_s));
  out.field("samples", type.samples).field("runs", type.runs).field("refusal", type.refusal);
  out.end_object();
}

void encode_types(JsonWriter& out, const ModelView& view) {
  out.key("gpuTypes").begin_array();
  for (const ModelTypeView& type : view.types)
    encode_type(out, type);
  out.end_array();
}

}  // namespace

Status check_model_name(std::string_view model) {
  const bool plain =
      !has_unprintable(model) && model.find_first_of("/\\") == std::string_view::npos;
  if (plain && !model.empty() && model.size() <= kMaxName) return {};
  return fail(ErrorCode::kInvalidArgument,
              format("the model's name \"{}\" must have 1 to {} bytes, without slashes, control "
                     "characters and invisible characters",
                     printable(model, 64), kMaxName));
}

Result<std::vector<ThroughputSample>> read_posted_samples(std::string_view json,
                                                          const std::string& model) {
  SLACKLINE_TRY(check_model_name(model));
  JsonDocument document;
  const auto parsed = document.parse(json);
  if (!parsed)
    return fail(parsed.error().with_context("the body (CSV needs the Content-Type text/csv)"));
  const JsonView root = *parsed;
  Problems problems;
  std::vector<ThroughputSample> samples;
  if (Fields body(root, "", problems); body.check_keys({"samples"})) {
    const JsonView list = root["samples"];
    const std::size_t count = list.items().count();
    if (!list.is_array() || count == 0 || count > kMaxPostedSamples)
      body.wrong("samples", format("must be a list of 1 to {} samples", kMaxPostedSamples));
    else
      for (const JsonView item : list.items()) {
        Fields fields(item, format("samples[{}]", samples.size()), problems);
        samples.push_back(read_sample(fields, model));
      }
  }
  SLACKLINE_TRY(problems.status());
  return samples;
}

Result<std::vector<ThroughputSample>> read_posted_csv(std::string_view text,
                                                      const std::string& model) {
  SLACKLINE_TRY(check_model_name(model));
  SLACKLINE_ASSIGN(const CsvTable table, read_csv(text));
  if (table.rows.size() > kMaxPostedSamples)
    return fail(ErrorCode::kInvalidArgument,
                format("{} rows; at most {} at once", table.rows.size(), kMaxPostedSamples));
  SLACKLINE_ASSIGN(std::vector<ThroughputSample> samples,
                   read_samples(table, SampleRows::kMeasured));
  RowProblems problems;
  for (std::size_t i = 0; i < samples.size(); ++i)
    if (samples[i].model != model)
      problems.add(
          table.rows[i].line, "model",
          format("\"{}\" is not {}, which the path names", printable(samples[i].model, 64), model));
  if (!problems.empty()) return fail(problems.error());
  return samples;
}

Result<ModelDescriptor> read_posted_descriptor(std::string_view json, const std::string& model) {
  SLACKLINE_TRY(check_model_name(model));
  JsonDocument document;
  SLACKLINE_ASSIGN(const JsonView root, document.parse(json));
  Problems problems;
  ModelDescriptor descriptor;
  descriptor.model = model;
  Fields body(root, "", problems);
  if (body.check_keys({"family", "parameters", "flopsPerSample", "description"})) {
    descriptor.family = body.name("family", kMaxName, false);
    descriptor.parameters = body.positive("parameters", false, kParameters);
    descriptor.flops_per_sample = body.positive("flopsPerSample", false, kFlops);
    descriptor.description = body.text("description", kMaxText, false);
  }
  SLACKLINE_TRY(problems.status());
  return descriptor;
}

void encode(JsonWriter& out, const ModelView& view) {
  out.begin_object();
  encode_descriptor(out, view.descriptor);
  encode_types(out, view);
  out.end_object();
}

void encode(JsonWriter& out, const SamplesAccepted& accepted) {
  out.begin_object()
      .field("model", accepted.model.descriptor.model)
      .field("accepted", accepted.accepted);
  encode_types(out, accepted.model);
  out.end_object();
}

}  // namespace slackline::wire
