// Throughput models.
#include "slackline/base/text.h"
#include "wire/rest/rows.h"

namespace slackline::wire {
namespace {

using Type = const ModelTypeView&;

std::string percent(const std::optional<double>& value) {
  return value ? format("{:.1f} %", *value) : "";
}

std::string origin_text(Type type) {
  if (!type.entry) return "";
  if (type.fitted_here) return format("fit {}", type.version);
  return type.entry->corrections.empty() ? "profile" : "profile, corrected";
}

std::string note_text(Type type) {
  if (!type.refusal.empty()) return "not fitted: " + type.refusal;
  if (type.version > 0 && !type.fitted_here)
    return "fit not used: its error is unknown, that of the profile's entry is known";
  return type.entry ? type.entry->source : "";
}

std::optional<Time> fitted(Type type) {
  return type.fitted_s > 0 ? std::optional(Time{type.fitted_s}) : std::nullopt;
}

// A value of the entry; nothing without an entry.
template <class T>
auto of_entry(T ProfileEntry::* member) {
  return [member](Type type) {
    return type.entry ? std::optional<T>((*type.entry).*member) : std::nullopt;
  };
}

std::optional<double> held_out_mape(Type type) {
  return type.entry ? type.entry->held_out_mape : std::nullopt;
}

std::optional<double> held_out_p90(Type type) {
  return type.entry ? type.entry->held_out_p90 : std::nullopt;
}

}  // namespace

template <>
const Columns<Correction>& columns<Correction>() {
  using C = Column<Correction>;
  static const Columns<Correction> kColumns = {
      "ModelCorrection",
      {
          C("nodes", &Correction::nodes),
          C("gpus", &Correction::gpus),
          C("observedOverPredicted", &Correction::ratio,
            "Of the namespace in the middle, the geometric mean over its runs"),
          C("runs", &Correction::runs),
      }};
  return kColumns;
}

template <>
const Columns<ModelTypeView>& columns<ModelTypeView>() {
  using C = Column<ModelTypeView>;
  static const Columns<ModelTypeView> kColumns = {
      "ModelGpuType",
      {
          C("gpuType", &ModelTypeView::gpu_type).cell("GPU TYPE"),
          C("from",
            [](Type type) {
              return type.entry ? std::optional(type.fitted_here ? "fitted here" : "profile")
                                : std::nullopt;
            })
              .one_of({"profile", "fitted here"})
              .cell("FROM", origin_text),
          C("kind",
            [](Type type) {
              return type.entry ? std::optional(type.entry->coefficients.kind) : std::nullopt;
            }).cell("KIND"),
          C("points", of_entry(&ProfileEntry::points)).cell(">POINTS"),
          C("startupSeconds", of_entry(&ProfileEntry::startup_s)),
          C("source", of_entry(&ProfileEntry::source)),
          C("heldOutMape", held_out_mape, "Mean error on layouts not fitted to, percent")
              .cell(">ERROR", [](Type type) { return percent(held_out_mape(type)); }),
          C("heldOutP90", held_out_p90, "9 of 10 held-out errors are smaller, percent")
              .cell(">P90", [](Type type) { return percent(held_out_p90(type)); }),
          C("corrections", of_entry(&ProfileEntry::corrections)),
          C("version", &ModelTypeView::version, "Of the last fit made here; 0 = none"),
          C("fitted", fitted),
          C("samples", &ModelTypeView::samples).cell(">SAMPLES"),
          C("runs", &ModelTypeView::runs, "Of the samples, finished runs"),
          C::only_cell("FITTED", fitted),
          C("refusal", &ModelTypeView::refusal, "Why the last fit was refused; empty = it was not"),
          C::only_cell("NOTE", note_text),
      }};
  return kColumns;
}

template <>
const Columns<ModelView>& columns<ModelView>() {
  using C = Column<ModelView>;
  using View = const ModelView&;
  static const Columns<ModelView> kColumns = {
      "Model",
      {
          C("model", [](View view) { return view.descriptor.model; }),
          C("family", [](View view) { return view.descriptor.family; }),
          C("description", [](View view) { return view.descriptor.description; }),
          C("parameters", [](View view) { return view.descriptor.parameters; }),
          C("flopsPerSample", [](View view) { return view.descriptor.flops_per_sample; }),
          C("gpuTypes", &ModelView::types),
      }};
  return kColumns;
}

template <>
const Columns<ThroughputSample>& columns<ThroughputSample>() {
  using C = Column<ThroughputSample>;
  using Sample = const ThroughputSample&;
  static const Columns<ThroughputSample> kColumns = {
      "ThroughputSample",
      {
          C("gpuType", &ThroughputSample::gpu_type).cell("GPU TYPE"),
          C("batch", &ThroughputSample::batch, "Global batch, of all GPUs together")
              .cell(">BATCH", [](Sample sample) { return format("{:g}", sample.batch); }),
          C("placement", &ThroughputSample::layout).cell("PLACEMENT"),
          C("throughputSamplesPerS", &ThroughputSample::throughput_samples_per_s)
              .cell(">SAMPLES/S"),
          C(
              "modelParallel",
              [](Sample sample) {
                return sample.model_parallel > 0 ? std::optional(sample.model_parallel)
                                                 : std::nullopt;
              },
              "GPUs of a replica; absent: not stated"),
          C("origin", [](Sample sample) { return to_string(sample.origin); })
              .one_of({"calibration", "run", "import"})
              .cell("ORIGIN"),
          C("source", &ThroughputSample::source).cell("SOURCE"),
          C(
              "run", [](Sample sample) { return if_any(sample.run); },
              "Uid of the Job that ran; absent: none is known"),
          C(
              "namespace", [](Sample sample) { return if_any(sample.ns); },
              "Of that Job; absent: none is known"),
      }};
  return kColumns;
}

template <>
const Columns<SamplesAccepted>& columns<SamplesAccepted>() {
  using C = Column<SamplesAccepted>;
  using View = const SamplesAccepted&;
  static const Columns<SamplesAccepted> kColumns = {
      "SamplesAccepted",
      {
          C("model", [](View view) { return view.model.descriptor.model; }),
          C("accepted", &SamplesAccepted::accepted),
          C(
              "gpuTypes", [](View view) { return view.model.types; }, "Those of the samples"),
      }};
  return kColumns;
}

template <>
TextTable table_of(const std::vector<ModelView>& models, Width width) {
  std::vector<TableColumn> headings = table_of(std::vector<ModelTypeView>(), width).columns();
  headings.insert(headings.begin(), {"MODEL"});
  TextTable table = TextTable::of(headings);
  for (const ModelView& model : models) {
    const TextTable types = table_of(model.types, width);
    for (std::vector<std::string> cells : types.rows()) {
      cells.insert(cells.begin(), model.descriptor.model);
      table.add(std::move(cells));
    }
    if (!model.types.empty()) continue;
    std::vector<std::string> cells(headings.size());
    cells.front() = model.descriptor.model;
    cells.back() = "no samples yet";
    table.add(std::move(cells));
  }
  return table;
}

std::string text_of(const ModelView& model) {
  const ModelDescriptor& descriptor = model.descriptor;
  std::string out = format("model {}", printable(descriptor.model));
  if (!descriptor.family.empty()) out += format(", family {}", printable(descriptor.family));
  if (descriptor.parameters) out += format(", {:.4g} parameters", *descriptor.parameters);
  if (descriptor.flops_per_sample)
    out += format(", {:.4g} FLOP per sample", *descriptor.flops_per_sample);
  out += '\n';
  if (!descriptor.description.empty()) out += printable(descriptor.description, 1024) + "\n";
  return out + "\n" + table_of(std::vector<ModelView>{model}).str();
}

std::string text_of(const SamplesAccepted& accepted) {
  return format("{} samples stored\n\n", accepted.accepted) +
         table_of(std::vector<ModelView>{accepted.model}).str();
}

}  // namespace slackline::wire
