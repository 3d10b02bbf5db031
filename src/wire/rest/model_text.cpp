// The tables of model_codec.h.
#include "slackline/base/duration.h"
#include "slackline/base/text.h"
#include "wire/format/text_table.h"
#include "wire/rest/model_codec.h"

namespace slackline::wire {
namespace {

std::string percent(const std::optional<double>& value) {
  return value ? format("{:.1f} %", *value) : "";
}

std::string origin_text(const ModelTypeView& type) {
  if (!type.entry) return "";
  if (type.fitted_here) return format("fit {}", type.version);
  return type.entry->corrections.empty() ? "profile" : "profile, corrected";
}

std::string note_text(const ModelTypeView& type) {
  if (!type.refusal.empty()) return "not fitted: " + type.refusal;
  if (type.version > 0 && !type.fitted_here)
    return "fit not used: its error is unknown, that of the profile's entry is known";
  return type.entry ? type.entry->source : "";
}

void add_rows(TextTable& table, const ModelView& model) {
  if (model.types.empty())
    table.add({model.descriptor.model, "", "", "", "", "", "", "", "", "no samples yet"});
  for (const ModelTypeView& type : model.types) {
    const ProfileEntry none;
    const ProfileEntry& entry = type.entry ? *type.entry : none;
    table.add({model.descriptor.model, type.gpu_type.str(), origin_text(type),
               entry.coefficients.kind, type.entry ? std::to_string(entry.points) : "",
               percent(entry.held_out_mape), percent(entry.held_out_p90),
               std::to_string(type.samples), type.fitted_s > 0 ? format_rfc3339(type.fitted_s) : "",
               note_text(type)});
  }
}

TextTable new_table() {
  return TextTable({"MODEL", "GPU TYPE", "FROM", "KIND", ">POINTS", ">ERROR", ">P90", ">SAMPLES",
                    "FITTED", "NOTE"});
}

}  // namespace

TextTable table_of(const std::vector<ModelView>& models) {
  TextTable table = new_table();
  for (const ModelView& model : models)
    add_rows(table, model);
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
