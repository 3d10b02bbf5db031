#include "control/learn/model_writer.h"

#include <set>
#include <string_view>
#include <utility>

#include "control/learn/fit_models.h"
#include "control/learn/teachers.h"
#include "obs/log.h"
#include "slackline/base/text.h"
#include "slackline/core/throughput/predictor.h"

namespace slackline::control {
namespace {

// Kind W fits a single measurement. Below this many batches and layouts, what was measured counts
// by itself, and the speed elsewhere is not known yet: calibration goes on.
constexpr int kLeastPointsToUse = 3;

bool same_entry(const ProfileEntry& a, const ProfileEntry& b) {
  return a.coefficients == b.coefficients && a.points == b.points && a.startup_s == b.startup_s &&
         a.held_out_mape == b.held_out_mape && a.source == b.source;
}

// Repetitions of one batch and layout are one.
int different_measurements(const std::vector<ThroughputSample>& samples) {
  std::set<std::pair<Spread, double>> different;
  for (const ThroughputSample& sample : samples)
    different.emplace(sample.layout.spread(), sample.batch);
  return static_cast<int>(different.size());
}

Error no_such_model(const std::string& model) {
  return {ErrorCode::kNotFound, format("no model is named {}", printable(model, 64))};
}

}  // namespace

ModelWriter::ModelWriter(const std::string& path, store::ModelStore store, WorkloadProfiles base,
                         obs::MetricsRegistry& metrics, const Clock& clock)
    : store_(std::move(store)),
      condition_("model", path, metrics),
      base_(std::move(base)),
      known_(make_known(base_)),
      meters_(metrics),
      clock_(clock) {}

Result<std::unique_ptr<ModelWriter>> ModelWriter::open(const std::string& path,
                                                       WorkloadProfiles base,
                                                       obs::MetricsRegistry& metrics,
                                                       const Clock& clock, double busy_timeout_s) {
  auto store = store::ModelStore::open(path, busy_timeout_s);
  if (!store) return fail(store.error().with_context("the model database " + path));
  std::unique_ptr<ModelWriter> writer(
      new ModelWriter(path, std::move(*store), std::move(base), metrics, clock));
  writer->condition_.opened(writer->store_.closed(), writer->store_.damage());
  writer->load();
  writer->publish();
  return writer;
}

void ModelWriter::open_again() {
  if (!store_.reopen()) return;
  condition_.recovered(store_.damage());
  load();
  publish();
}

// A model that is known already may always be told more of.
Status ModelWriter::check_room(const std::string& model) const {
  std::set<std::string_view> models;
  for (const auto& [key, pair] : learnt_.pairs)
    models.insert(key.first);
  for (const auto& [name, descriptor] : learnt_.descriptors)
    models.insert(name);
  if (models.contains(model) || models.size() < kMaxLearntModels) return {};
  return fail(ErrorCode::kForbidden,
              format("{} models are known, and no more are kept: delete some that nobody trains "
                     "any more (slackline models NAME --delete)",
                     models.size()));
}

// A model is of the namespace whose run was its first; what administrators named is nobody's.
Status ModelWriter::check_share(const ThroughputSample& run) const {
  const auto is_named = [&](const std::string& model) {
    return base_.knows_model(model) || learnt_.descriptors.contains(model);
  };
  if (run.ns.empty() || is_named(run.model)) return {};
  std::set<std::string_view> seen;
  std::size_t own = 0;
  for (const auto& [key, pair] : learnt_.pairs) {
    if (key.first == run.model) return {};
    if (!seen.insert(key.first).second || is_named(key.first)) continue;
    if (!pair.samples.empty() && pair.samples.front().ns == run.ns) ++own;
  }
  if (own < kMaxModelsOfNamespace) return {};
  return fail(ErrorCode::kForbidden,
              format("{} models are known from the runs of namespace {} first, and it may bring no "
                     "more: delete some (slackline models NAME --delete), or describe those that "
                     "are meant (PUT /v1/models/NAME)",
                     own, run.ns));
}

bool ModelWriter::is_refused(const ThroughputSample& run) {
  const Status room = check_room(run.model);
  const Status share = check_share(run);
  if (room && share) return false;
  meters_.count_refused_run();
  if (!room)
    obs::log_warning("run_not_stored", {{"run", run.source}, {"error", room.error().message}});
  else if (told_.insert(run.ns).second)  // once, and not for each of its runs
    obs::log_warning("models_of_namespace_full",
                     {{"run", run.source}, {"error", share.error().message}});
  return true;
}

void ModelWriter::load() {
  for (const auto& [key, count] : readable(store_.pairs(), "samples"))
    learnt_.pairs[{key.model, key.gpu_type}].samples = readable(store_.samples(key), "samples");
  for (FitRecord& fit : readable(store_.fits(), "fits")) {
    const std::pair key(fit.entry.model, fit.entry.gpu_type);
    learnt_.pairs[key].fit = std::move(fit);
  }
  for (ModelDescriptor& descriptor : readable(store_.descriptors(), "descriptions")) {
    const std::string model = descriptor.model;
    learnt_.descriptors[model] = std::move(descriptor);
  }
}

// The rows that can be read.
template <class T>
T ModelWriter::readable(Result<T> rows, std::string_view what) {
  for (const Error& row : store_.take_unreadable())
    condition_.cannot_read(what, row);
  if (rows) return *std::move(rows);
  condition_.cannot_read(what, rows.error());
  return {};
}

Status ModelWriter::written(const Status& status, std::string_view what) {
  return condition_.written(status, what, store_.damage());
}

Result<SamplesAccepted> ModelWriter::add_samples(const std::vector<ThroughputSample>& samples) {
  if (closed()) open_again();
  SLACKLINE_TRY(check_room(samples.front().model));
  const auto added = store_.add_samples(samples, clock_.wall_s());
  SLACKLINE_TRY(written(added ? Status() : Status(fail(added.error())), "the samples were"));
  std::set<store::ModelKey> touched;
  for (const ThroughputSample& sample : samples) {
    touched.insert({sample.model, sample.gpu_type});
    meters_.count_sample(sample);
  }
  refit(touched);
  SamplesAccepted accepted;
  accepted.accepted = *added;
  if (const ModelView* view = known_.get()->find(samples.front().model)) accepted.model = *view;
  std::erase_if(accepted.model.types, [&](const ModelTypeView& type) {
    return !touched.contains({accepted.model.descriptor.model, type.gpu_type});
  });
  return accepted;
}

Result<std::vector<ThroughputSample>> ModelWriter::samples(const std::string& model) const {
  if (known_.get()->find(model) == nullptr) return fail(no_such_model(model));
  std::vector<ThroughputSample> samples;
  for (const auto& [key, pair] : learnt_.pairs)
    if (key.first == model) samples.insert(samples.end(), pair.samples.begin(), pair.samples.end());
  return samples;
}

Result<ModelView> ModelWriter::describe(const ModelDescriptor& descriptor) {
  if (closed()) open_again();
  SLACKLINE_TRY(check_room(descriptor.model));
  SLACKLINE_TRY(written(store_.put_descriptor(descriptor), "the description was"));
  learnt_.descriptors[descriptor.model] = descriptor;
  publish();
  return *known_.get()->find(descriptor.model);
}

Status ModelWriter::forget(const std::string& model) {
  if (closed()) open_again();
  const auto found = store_.forget(model);
  SLACKLINE_TRY(written(found ? Status() : Status(fail(found.error())), "the deletion was"));
  learnt_.descriptors.erase(model);
  std::erase_if(learnt_.pairs, [&](const auto& pair) { return pair.first.first == model; });
  publish();
  if (*found) return {};
  if (known_.get()->find(model) != nullptr)
    return fail(
        ErrorCode::kNotFound,
        format("nothing was learned about {}: all that is known about it comes from the profiles",
               printable(model, 64)));
  return fail(no_such_model(model));
}

Status ModelWriter::add_runs(std::vector<ThroughputSample>& runs) {
  if (closed()) open_again();
  std::set<store::ModelKey> touched;
  Status status;
  while (!runs.empty()) {
    const ThroughputSample& run = runs.front();
    if (is_refused(run)) {
      runs.erase(runs.begin());
      continue;
    }
    const auto added = store_.add_samples({run}, clock_.wall_s());
    status = written(added ? Status() : Status(fail(added.error())), "a finished run was");
    if (!added && passes_by_itself(added.error())) break;
    if (!added)
      obs::log_error("run_not_stored", {{"run", run.source}, {"error", added.error().message}});
    if (added && *added > 0) {
      touched.insert({run.model, run.gpu_type});
      learnt_.pairs[{run.model, run.gpu_type}].samples.push_back(
          run);  // the next may be one too many
      meters_.count_sample(run);
    }
    runs.erase(runs.begin());
  }
  if (!touched.empty()) refit(touched);
  return status;
}

void ModelWriter::catch_up(const StopAsked& stop) {
  std::set<store::ModelKey> stale;
  for (const auto& [key, pair] : learnt_.pairs) {
    const store::ModelKey of{key.first, key.second};
    const std::vector<ThroughputSample> samples = samples_to_fit(of);
    if (!pair.fit || pair.fit->entry.points != static_cast<int>(samples.size()) ||
        different_measurements(samples) < kLeastPointsToUse)
      stale.insert(of);
  }
  if (!stale.empty()) refit(stale, stop);
}

void ModelWriter::refit(const std::set<store::ModelKey>& keys, const StopAsked& stop) {
  for (const store::ModelKey& key : keys) {
    if (is_asked(stop)) break;
    refit(key);
  }
  publish();
}

std::vector<ThroughputSample> ModelWriter::samples_to_fit(const store::ModelKey& key) const {
  const auto& samples = learnt_.pairs.at({key.model, key.gpu_type}).samples;
  return core::entry_of(base_, key.model, key.gpu_type) == nullptr ? samples_with_runs(samples)
                                                                   : measured_samples(samples);
}

void ModelWriter::refit(const store::ModelKey& key) {
  LearntPair& pair = learnt_.pairs[{key.model, key.gpu_type}];
  if (auto samples = readable(store_.samples(key), "samples"); !samples.empty())
    pair.samples = std::move(samples);
  if (pair.samples.empty()) return;
  const std::vector<ThroughputSample> samples = samples_to_fit(key);
  if (samples.empty()) return pair.fit.reset();  // runs alone correct what the profile says
  FitModelsOptions options;
  options.hold_out.reset();  // "auto" holds out by itself where there are enough samples
  const double begun_s = clock_.steady_s();
  FittedModel model = fit_models(samples, options).front();
  if (const int measured = different_measurements(samples);
      model.fit && measured < kLeastPointsToUse) {
    model.problem = format(
        "{} of {} different measurements that are needed: a batch and layout "
        "that was measured again is none",
        measured, kLeastPointsToUse);
    model.fit.reset();
    // An older version made one of these; where there were more, they can no longer be read.
    if (pair.fit && pair.fit->entry.points <= static_cast<int>(samples.size())) pair.fit.reset();
  }
  const double duration_s = clock_.steady_s() - begun_s;
  pair.refusal = model.problem;
  if (!model.fit) return meters_.count_refused_fit(duration_s);
  const ProfileEntry* shipped = core::entry_of(base_, key.model, key.gpu_type);
  const ProfileEntry entry = profile_entry_of(model, shipped == nullptr ? 0 : shipped->startup_s);
  meters_.count_fit(entry, duration_s);
  keep(entry, pair);
}

void ModelWriter::keep(const ProfileEntry& entry, LearntPair& pair) {
  if (pair.fit && same_entry(pair.fit->entry, entry)) return;
  auto record = store_.put_fit(entry, clock_.wall_s());
  if (record) {
    pair.fit = std::move(*record);
    return;
  }
  condition_.count_failed_write();
  // Its samples are on disk: the fit is used now, and made again by the next start.
  obs::log_error("fit_not_stored", {{"model", entry.model}, {"error", record.error().message}});
  pair.fit = FitRecord{entry, pair.fit ? pair.fit->version + 1 : 1, clock_.wall_s()};
}

void ModelWriter::publish() {
  known_.set(make_known(base_, learnt_, known_.get()->version + 1));
  condition_.tell(store_.damage());
}

}  // namespace slackline::control
