#include "slackline/core/planning/deadline.h"

#include <string>

#include "slackline/core/planning/gpu_types.h"
#include "slackline/core/planning/stated_duration.h"
#include "slackline/core/planning/task_menu.h"
#include "slackline/core/throughput/throughput.h"

namespace slackline::core {
namespace {

std::optional<ReferenceRun> run_by_model(const ReferenceQuestion& task, const Predictor& predictor,
                                         const std::vector<GpuType>& cluster_types) {
  const TaskIntent& intent = task.intent;
  if (!intent.iterations || !task.catalog.is_whole(task.resource)) return std::nullopt;
  const AcceptedTypes accepted(intent, task.catalog);
  std::optional<ReferenceRun> slowest;
  for (const GpuType& type : accepted.anything() ? cluster_types : accepted.types()) {
    const auto model = predictor.prepare(intent, type);
    const auto prediction = model ? model->predict(Placement{1, 1}) : std::nullopt;
    if (!prediction) continue;
    const auto lat11_s = lat_s(prediction->throughput_samples_per_s, model->batch(),
                               static_cast<double>(*intent.iterations), model->startup_s());
    if (lat11_s && (!slowest || *lat11_s > slowest->lat_s))
      slowest = ReferenceRun{*lat11_s, type, to_string(prediction->source)};
  }
  return slowest;
}

std::optional<ReferenceRun> run_as_stated(const ReferenceQuestion& task,
                                          const Predictor& predictor) {
  if (!task.intent.qos_class || !task.intent.expected_duration_s) return std::nullopt;
  const StatedDuration stated(task.intent, task.catalog, std::string(task.resource), predictor);
  return ReferenceRun{*task.intent.expected_duration_s, stated.type().value_or(GpuType()),
                      to_string(LengthSource::kStated)};
}

}  // namespace

double DeadlineFactors::of(QosClass qos) const {
  switch (qos) {
    case QosClass::kUrgent:
      return urgent;
    case QosClass::kPrior:
      return prior;
    case QosClass::kNormal:
      break;
  }
  return normal;
}

std::optional<double> resolve_deadline(const TaskIntent& intent, double created_s,
                                       std::optional<double> lat11_s,
                                       const DeadlineFactors& factors) {
  if (intent.deadline_s) return intent.deadline_s;
  if (intent.deadline_after_s) return created_s + *intent.deadline_after_s;
  if (!lat11_s) return std::nullopt;
  return created_s + factors.of(intent.qos_class.value_or(QosClass::kNormal)) * *lat11_s;
}

std::optional<bool> meets_deadline(double now_s, std::optional<double> lat_s,
                                   std::optional<double> deadline_s) {
  if (!lat_s || !deadline_s) return std::nullopt;
  return now_s + *lat_s <= *deadline_s + kDeadlineTolerance_s;
}

std::optional<ReferenceRun> reference_run(const ReferenceQuestion& task, const Predictor& predictor,
                                          const std::vector<GpuType>& cluster_types) {
  const auto run = run_by_model(task, predictor, cluster_types);
  return run ? run : run_as_stated(task, predictor);
}

std::optional<double> reference_lat_s(const ReferenceQuestion& task, const Predictor& predictor,
                                      const std::vector<GpuType>& cluster_types) {
  const auto run = reference_run(task, predictor, cluster_types);
  return run ? std::optional(run->lat_s) : std::nullopt;
}

}  // namespace slackline::core
