#include "slackline/core/cluster/annotation_hints.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string_view>

#include "slackline/base/spelling.h"
#include "slackline/base/text.h"
#include "slackline/core/planning/gpu_types.h"
#include "slackline/core/planning/shapes.h"
#include "slackline/model/contract.h"

namespace slackline::core {
namespace {

// The case of letters does not count. nullptr: none of them is like it.
const std::string* meant(std::string_view written, const std::vector<std::string>& names) {
  std::vector<std::string> lower;
  for (const std::string& name : names)
    lower.push_back(to_lower(name));
  const std::vector<std::string_view> words(lower.begin(), lower.end());
  const auto nearest = nearest_spelling(to_lower(written), words);
  if (!nearest) return nullptr;
  return &names[static_cast<std::size_t>(std::find(words.begin(), words.end(), *nearest) -
                                         words.begin())];
}

// The one that is meant, else a few names to choose from: not the whole catalogue.
std::string known_models(std::string_view written, const WorkloadProfiles& profiles) {
  constexpr std::size_t kShown = 6;
  std::set<std::string> names;
  for (const ProfileEntry& entry : profiles.entries())
    names.insert(entry.model);
  std::vector<std::string> shown(names.begin(), names.end());
  if (const std::string* name = meant(written, shown)) return format("did you mean {}?", *name);
  if (shown.size() <= kShown) return "known: " + join(shown, ", ");
  shown.resize(kShown);
  return format("known: {} ...", join(shown, ", "));
}

// By a profile of its own, or by what its family does on any GPU type.
bool is_known(const TaskIntent& intent, const Predictor& predictor) {
  const WorkloadProfiles& profiles = predictor.profiles();
  if (profiles.knows_model(*intent.workload())) return true;
  TaskIntent asked = intent;
  asked.batch_size = intent.batch_size.value_or(1);
  return std::any_of(profiles.entries().begin(), profiles.entries().end(), [&](const auto& entry) {
    return predictor.prepare(asked, entry.gpu_type).has_value();
  });
}

// Of a model that is known somewhere: on none of the GPU types that nodes have; or it was never
// measured, and nobody has said what it is like.
void hint_at_guess(const ClusterSnapshot& snapshot, const TaskIntent& intent,
                   const Predictor& predictor, std::vector<std::string>& hints) {
  if (intent.expected_duration_s) return;
  const std::string model = *intent.workload();
  const std::vector<GpuType>& types = snapshot.node_table.types;
  if (snapshot.synced && !types.empty() &&
      std::none_of(types.begin(), types.end(), [&](const GpuType& type) {
        return predictor.prepare(intent, type).has_value();
      }))
    return hints.push_back(
        format("{}: nothing tells how fast \"{}\" is on the GPU types that nodes have, so its run "
               "time cannot be predicted; write slackline.dev/expected-duration",
               intent.model ? contract::kModel : contract::kFamily, printable(model, 48)));
  if (!predictor.goes_by_letters(intent) || predictor.profiles().knows_model(model)) return;
  hints.push_back(format(
      "{}: \"{}\" was never measured: its run time is a guess, by models whose names begin with "
      "\"{}\", and may be several times as long; write slackline.dev/expected-duration",
      contract::kModel, printable(model, 48), printable(family_of(model), 48)));
}

// Which of model, batch-size and iterations leave the run time unknown.
void hint_at_model(const ClusterSnapshot& snapshot, const TaskIntent& intent,
                   const Predictor& predictor, std::vector<std::string>& hints) {
  if (!intent.workload()) return;
  if (!is_known(intent, predictor))
    return hints.push_back(format(
        "{}: \"{}\" is unknown, so its run time {}; {}",
        intent.model ? contract::kModel : contract::kFamily, printable(*intent.workload(), 48),
        intent.expected_duration_s ? "is taken from slackline.dev/expected-duration"
                                   : "cannot be predicted and its class gives no deadline; write "
                                     "slackline.dev/expected-duration",
        known_models(*intent.workload(), predictor.profiles())));
  if (intent.batch_size && intent.iterations)
    return hint_at_guess(snapshot, intent, predictor, hints);
  if (intent.expected_duration_s) return;
  hints.push_back(
      format("{}: without {} the run time of the task is unknown, and its class gives no deadline; "
             "write it, or slackline.dev/expected-duration",
             contract::kModel,
             intent.batch_size   ? "iterations"
             : intent.iterations ? "batch-size"
                                 : "batch-size and iterations"));
}

// The shapes that the task names, or the one it is written in: `auto` chooses none of these.
void hint_at_batch(const Task& task, std::vector<std::string>& hints) {
  const std::int64_t batch = task.intent.batch_size.value_or(0);
  std::vector<Placement> named = task.intent.placements;
  if (named.empty() && !task.intent.any_placement) named.push_back(task.written_shape());
  const std::int64_t replica = task.intent.model_parallel.value_or(1);
  for (const Placement& shape : named) {
    if (shape.gpus() % replica != 0) {
      hints.push_back(format("{}model-parallel: {} does not hold whole replicas of {} GPUs",
                             contract::kPrefix, shape.str(), replica));
      continue;
    }
    const std::int64_t replicas = shape.gpus() / replica;
    if (replicas > 0 && !divides(batch, replicas))
      hints.push_back(format(
          "{}batch-size: {} does not divide by the {} {} of {}: many frameworks drop the "
          "rest or refuse to start; the run time is predicted for the whole batch",
          contract::kPrefix, batch, replicas, replica > 1 ? "replicas" : "GPUs", shape.str()));
  }
}

// The GPU types that nodes have, and those of the catalogue.
class KnownTypes {
 public:
  KnownTypes(const ClusterSnapshot& snapshot, const GpuCatalog& catalog) : catalog_(catalog) {
    for (const GpuType& type : snapshot.node_table.types)
      if (!type.empty()) there_.push_back(type);
  }

  void hint_at(std::string_view key, const GpuType& written,
               std::vector<std::string>& hints) const {
    const AcceptedTypes accepted(written, catalog_);
    const auto has = [&](const GpuType& type) { return accepted.preference(type).has_value(); };
    if (std::any_of(there_.begin(), there_.end(), has)) return;
    const bool known = catalog_.type(accepted.types().front()) != nullptr;
    hints.push_back(format("{}: no node has a GPU of the type \"{}\"{}; nodes have: {}", key,
                           printable(written.str(), 64), known ? "" : did_you_mean(written),
                           there_.empty() ? "none" : printable(join(names(), ", "), 200)));
  }

 private:
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const GpuType& type : there_)
      names.push_back(type.str());
    return names;
  }

  std::string did_you_mean(const GpuType& written) const {
    std::vector<std::string> types = names();
    for (const GpuTypeRule& rule : catalog_.types)
      types.push_back(rule.alias.str());
    const std::string* type = meant(written.str(), types);
    return type == nullptr ? "" : format(" (did you mean {}?)", printable(*type, 64));
  }

  const GpuCatalog& catalog_;
  std::vector<GpuType> there_;
};

void hint_at_types(const ClusterSnapshot& snapshot, const TaskIntent& intent,
                   const GpuCatalog& catalog, std::vector<std::string>& hints) {
  const KnownTypes known(snapshot, catalog);
  for (const GpuType& type : intent.gpu_types)
    known.hint_at(contract::kGpuTypes, type, hints);
  if (!intent.expected_duration_on) return;
  if (intent.expected_duration_s)
    known.hint_at(contract::kExpectedDurationOn, *intent.expected_duration_on, hints);
  else
    hints.push_back(format("{}: says nothing without slackline.dev/expected-duration",
                           contract::kExpectedDurationOn));
}

}  // namespace

std::vector<std::string> annotation_hints(const ClusterSnapshot& snapshot, const Task& task,
                                          const GpuCatalog& catalog, const Predictor& predictor) {
  std::vector<std::string> hints;
  hint_at_model(snapshot, task.intent, predictor, hints);
  hint_at_batch(task, hints);
  if (snapshot.synced) hint_at_types(snapshot, task.intent, catalog, hints);
  return hints;
}

}  // namespace slackline::core
