#include "wire/rest/model_codec.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <optional>

#include "slackline/base/text.h"
#include "slackline/base/visible.h"
#include "wire/format/json_view.h"
#include "wire/samples/samples_csv.h"

namespace slackline::wire {
namespace {

constexpr std::size_t kMaxText = 4096;
constexpr std::size_t kMostListedSamples = 200000;  // of one model: some forty GPU types
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
               counted(static_cast<std::int64_t>(count_), "field is", "fields are"), listed_,
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

std::string why_too_many_replicas(const ThroughputSample& sample) {
  return format(
      "{} is less than the replicas of {} GPUs on {}; it is the global batch, of all "
      "GPUs together",
      sample.batch, sample.model_parallel, sample.layout.str());
}

// GPUs of a replica; 0 where it is not given.
int read_replica(Fields& fields) {
  const auto gpus = fields.positive("modelParallel", false, {1, kMostModelParallel});
  if (gpus && *gpus == std::floor(*gpus)) return static_cast<int>(*gpus);
  if (gpus) fields.wrong("modelParallel", "must be a whole number");
  return 0;
}

ThroughputSample read_sample(Fields& fields, const std::string& model) {
  ThroughputSample sample;
  sample.model = model;
  if (!fields.check_keys({"gpuType", "batch", "placement", "throughputSamplesPerS", "modelParallel",
                          "source", "origin", "run", "namespace"}))
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
  sample.model_parallel = read_replica(fields);
  if (layout && batch && has_too_many_replicas(sample))
    fields.wrong("batch", why_too_many_replicas(sample));
  sample.throughput_samples_per_s =
      fields.positive("throughputSamplesPerS", true, kThroughputs).value_or(0);
  sample.source = fields.name("source", kMaxSource, false);
  sample.origin = read_origin(fields);
  sample.run = Uid(fields.name("run", kMaxName, false));
  sample.ns = fields.name("namespace", kMaxName, false);
  return sample;
}

// The members of `root` are `members`, the first of them has the samples.
Result<std::vector<ThroughputSample>> read_samples_in(
    const JsonView& root, std::initializer_list<std::string_view> members, std::size_t most,
    const std::string& model) {
  SLACKLINE_TRY(check_model_name(model));
  Problems problems;
  std::vector<ThroughputSample> samples;
  if (Fields body(root, "", problems); body.check_keys(members)) {
    const std::string_view key = *members.begin();
    const JsonView list = root[key];
    const std::size_t count = list.items().count();
    if (!list.is_array() || count == 0 || count > most)
      body.wrong(key, format("must be a list of 1 to {} samples", most));
    else
      for (const JsonView item : list.items()) {
        Fields fields(item, format("{}[{}]", key, samples.size()), problems);
        samples.push_back(read_sample(fields, model));
      }
  }
  SLACKLINE_TRY(problems.status());
  return samples;
}

}  // namespace

Status check_model_name(std::string_view model) {
  const bool plain = !has_unprintable(model) && model.find('\\') == std::string_view::npos;
  const auto parts = split(model, '/');
  const bool is_path = std::none_of(parts.begin(), parts.end(), [](std::string_view part) {
    return part.empty() || part == "." || part == "..";
  });
  const bool is_other_path =
      parts.size() > 1 && (parts.back() == "samples" || parts.back() == "calibration");
  if (plain && is_path && !is_other_path && model.size() <= kMaxName) return {};
  return fail(
      ErrorCode::kInvalidArgument,
      format("the model's name \"{}\" must have 1 to {} bytes, without backslashes, control "
             "characters and invisible characters, and where it has slashes, a name before "
             "and after each, the last not \"samples\" or \"calibration\"",
             printable(model, 64), kMaxName));
}

Result<std::vector<ThroughputSample>> read_posted_samples(std::string_view json,
                                                          const std::string& model) {
  JsonDocument document;
  const auto parsed = document.parse(json);
  if (!parsed)
    return fail(parsed.error().with_context("the body (CSV needs the Content-Type text/csv)"));
  return read_samples_in(*parsed, {"samples"}, kMaxPostedSamples, model);
}

Result<std::vector<ThroughputSample>> read_listed_samples(std::string_view json,
                                                          const std::string& model) {
  JsonDocument document;
  SLACKLINE_ASSIGN(const JsonView root, document.parse(json));
  return read_samples_in(root, {"items", "metadata"}, kMostListedSamples, model);
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
  for (std::size_t i = 0; i < samples.size(); ++i)
    if (has_too_many_replicas(samples[i]))
      problems.add(table.rows[i].line, "batch", why_too_many_replicas(samples[i]));
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

Result<std::vector<ListedModel>> read_listed_models(std::string_view json) {
  JsonDocument document;
  SLACKLINE_ASSIGN(const JsonView root, document.parse(json));
  if (!root["items"].is_array())
    return fail(ErrorCode::kInvalidArgument, "items: is missing, or no list");
  std::vector<ListedModel> models;
  for (const JsonView item : root["items"].items()) {
    ListedModel listed;
    ModelDescriptor& descriptor = listed.descriptor;
    descriptor.model = item["model"].text();
    if (!check_model_name(descriptor.model)) continue;  // no path leads to it
    descriptor.family = item["family"].text();
    descriptor.description = item["description"].text();
    descriptor.parameters = item["parameters"].number();
    descriptor.flops_per_sample = item["flopsPerSample"].number();
    for (const JsonView type : item["gpuTypes"].items())
      listed.has_samples |= type["samples"].number().value_or(0) > 0;
    models.push_back(std::move(listed));
  }
  return models;
}

}  // namespace slackline::wire
