#include "control/learn/known.h"

#include <algorithm>
#include <set>
#include <utility>

#include "control/learn/teachers.h"
#include "slackline/base/text.h"
#include "slackline/core/throughput/correction.h"
#include "slackline/core/throughput/predictor.h"

namespace slackline::control {
namespace {

using PairKey = std::pair<std::string, GpuType>;

// What is shipped of the pair, under its own name of the GPU.
std::optional<ProfileEntry> shipped_of(const WorkloadProfiles& base, const PairKey& key) {
  const ProfileEntry* entry = core::entry_of(base, key.first, key.second);
  if (entry == nullptr) return std::nullopt;
  ProfileEntry own = *entry;
  own.gpu_type = key.second;
  return own;
}

// Whether a fit takes the place of what is shipped. W fits any few measurements: it needs more of
// them than the shipped entry has.
bool earned(const FitRecord& fit, const std::optional<ProfileEntry>& shipped) {
  if (!shipped) return true;
  if (fit.entry.coefficients.kind == "W" && fit.entry.points <= shipped->points) return false;
  return fit.entry.held_out_mape.has_value();
}

// The entry in use; nullopt where there are only samples. Runs correct it, unless it was fitted to
// them, too: to those of what is not shipped.
std::optional<ProfileEntry> entry_in_use(const std::optional<ProfileEntry>& shipped,
                                         const LearntPair& pair) {
  const bool fitted = pair.fit && earned(*pair.fit, shipped);
  if (!shipped) return fitted ? std::optional(pair.fit->entry) : std::nullopt;
  return corrected_by_runs(fitted ? pair.fit->entry : *shipped, pair.samples);
}

ModelTypeView type_view(const PairKey& key, const WorkloadProfiles& base, const LearntPair& pair) {
  const std::optional<ProfileEntry> shipped = shipped_of(base, key);
  ModelTypeView view;
  view.gpu_type = key.second;
  view.entry = entry_in_use(shipped, pair);
  view.fitted_here = pair.fit && earned(*pair.fit, shipped);
  if (pair.fit) {
    view.version = pair.fit->version;
    view.fitted_s = pair.fit->fitted_s;
  }
  view.samples = static_cast<std::int64_t>(pair.samples.size());
  view.runs = std::count_if(pair.samples.begin(), pair.samples.end(),
                            [](const auto& sample) { return sample.origin == SampleOrigin::kRun; });
  view.refusal = pair.refusal;
  return view;
}

// Every model that has a profile, a sample or a description.
std::map<std::string, ModelView> model_views(const WorkloadProfiles& base, const Learnt& learnt) {
  std::set<PairKey> keys;
  for (const ProfileEntry& entry : base.entries())
    keys.emplace(entry.model, entry.gpu_type);
  for (const auto& [key, pair] : learnt.pairs)
    keys.insert(key);
  static const LearntPair kNothing;
  std::map<std::string, ModelView> views;
  for (const PairKey& key : keys) {
    const auto at = learnt.pairs.find(key);
    views[key.first].types.push_back(
        type_view(key, base, at == learnt.pairs.end() ? kNothing : at->second));
  }
  for (const auto& [model, descriptor] : learnt.descriptors)
    views[model].descriptor = descriptor;
  for (auto& [model, view] : views)
    view.descriptor.model = model;
  return views;
}

// Names what the predictor was made of.
std::string fingerprint_of(const std::vector<ProfileEntry>& entries,
                           const std::vector<ThroughputSample>& measured,
                           const std::vector<ModelDescriptor>& descriptors) {
  std::string text;
  for (const ProfileEntry& entry : entries) {
    text += format("{}/{}:{}", entry.model, entry.gpu_type.str(), entry.coefficients.kind);
    for (const double param : entry.coefficients.params)
      text += format(" {}", param);
    for (const Correction& correction : entry.corrections)
      text +=
          format(" {}x{}*{}", correction.nodes, correction.gpus, core::shrunk_ratio(correction));
    text += format(" {} {}\n", entry.startup_s, entry.family);
  }
  for (const ThroughputSample& sample : measured)
    text += format("{}/{}/{}/{}={}\n", sample.model, sample.gpu_type.str(), sample.batch,
                   sample.layout.str(), sample.throughput_samples_per_s);
  for (const ModelDescriptor& described : descriptors)
    text += format("{} {} {} {}\n", described.model, described.family,
                   described.parameters.value_or(0), described.flops_per_sample.value_or(0));
  return format("{:016x}", slackline::fingerprint(text));
}

}  // namespace

const WorkloadProfiles& Known::profiles() const {
  return predictor->profiles();
}

const ModelView* Known::find(std::string_view model) const {
  const auto at = std::lower_bound(
      models.begin(), models.end(), model,
      [](const ModelView& view, std::string_view name) { return view.descriptor.model < name; });
  return at != models.end() && at->descriptor.model == model ? &*at : nullptr;
}

Known make_known(const WorkloadProfiles& base, const Learnt& learnt, std::uint64_t version) {
  std::vector<ModelView> models;
  std::vector<ProfileEntry> entries;
  std::vector<ThroughputSample> measured;
  std::vector<ModelDescriptor> descriptors;
  for (auto& [model, view] : model_views(base, learnt)) {
    for (ModelTypeView& type : view.types) {
      if (type.entry && !view.descriptor.family.empty())
        type.entry->family = view.descriptor.family;
      if (type.entry) entries.push_back(*type.entry);
      const auto pair = learnt.pairs.find({model, type.gpu_type});
      if (pair == learnt.pairs.end()) continue;
      const auto speeds = type.entry ? measured_samples(pair->second.samples)
                                     : samples_with_runs(pair->second.samples);
      measured.insert(measured.end(), speeds.begin(), speeds.end());
    }
    descriptors.push_back(view.descriptor);
    models.push_back(std::move(view));
  }
  std::string fingerprint = fingerprint_of(entries, measured, descriptors);
  return {std::make_shared<const core::Predictor>(WorkloadProfiles(std::move(entries)), measured,
                                                  descriptors),
          std::move(models), std::move(fingerprint), version};
}

}  // namespace slackline::control
