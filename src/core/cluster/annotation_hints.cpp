#include "slackline/core/cluster/annotation_hints.h"

#include <algorithm>
#include <cstdint>
#include <set>

#include "slackline/base/text.h"
#include "slackline/core/planning/shapes.h"
#include "slackline/model/contract.h"

namespace slackline::core {
namespace {

// A few names to choose from, not the whole catalogue.
std::string some_models(const WorkloadProfiles& profiles) {
  constexpr std::size_t kShown = 6;
  std::set<std::string> names;
  for (const ProfileEntry& entry : profiles.entries())
    names.insert(entry.model);
  std::vector<std::string> shown(names.begin(), names.end());
  if (shown.size() <= kShown) return join(shown, ", ");
  shown.resize(kShown);
  return join(shown, ", ") + " ...";
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

// Which of model, batch-size and iterations leave the run time unknown.
void hint_at_model(const TaskIntent& intent, const Predictor& predictor,
                   std::vector<std::string>& hints) {
  if (!intent.workload()) return;
  if (!is_known(intent, predictor))
    return hints.push_back(
        format("{}: \"{}\" is unknown, so its run time cannot be predicted and its class gives no "
               "deadline; known: {}; or write slackline.dev/expected-duration",
               intent.model ? contract::kModel : contract::kFamily,
               printable(*intent.workload(), 48), some_models(predictor.profiles())));
  if (intent.expected_duration_s || (intent.batch_size && intent.iterations)) return;
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

}  // namespace

std::vector<std::string> annotation_hints(const Task& task, const Predictor& predictor) {
  std::vector<std::string> hints;
  hint_at_model(task.intent, predictor, hints);
  hint_at_batch(task, hints);
  return hints;
}

}  // namespace slackline::core
