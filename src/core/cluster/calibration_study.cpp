#include "slackline/core/cluster/calibration_study.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "slackline/base/saturating.h"
#include "slackline/base/text.h"
#include "slackline/core/cluster/pools.h"
#include "slackline/core/cluster/task_catalog.h"
#include "slackline/core/planning/gpu_types.h"
#include "slackline/core/planning/shapes.h"
#include "slackline/core/throughput/trial_shapes.h"

namespace slackline::core {
namespace {

// A calibration run as its annotations say.
struct PastTrial {
  JobPtr job;
  std::int64_t iterations = 0;
};
using PastTrials = std::map<std::tuple<std::string, GpuType, Placement>, std::vector<PastTrial>>;

// By the age of the Jobs, the oldest first.
PastTrials past_trials(const ClusterSnapshot& snapshot) {
  PastTrials past;
  for (const JobPtr& job : snapshot.jobs) {
    if (!job->is_calibration() || job->intent == nullptr) continue;
    const TaskIntent& intent = *job->intent;
    if (!intent.workload() || intent.gpu_types.empty() || intent.placements.empty()) continue;
    past[{*intent.workload(), intent.gpu_types.front(), intent.placements.front()}].push_back(
        {job, intent.iterations.value_or(0)});
  }
  for (auto& [shape, trials] : past)
    std::sort(trials.begin(), trials.end(), [](const PastTrial& a, const PastTrial& b) {
      return std::tie(a.job->created_s, a.job->key) < std::tie(b.job->created_s, b.job->key);
    });
  return past;
}

// Whether runs of any number of pods can be made of it. What it has done itself does not matter.
bool takes_any_nodes(const Job& job) {
  return job.indexed && job.completions == job.parallelism;
}

// Empty: calibration runs can be made of the Job.
std::string why_not_of(const Job& job, const GpuCatalog& catalog, const CalibrationRules& rules) {
  const TaskIntent& intent = *job.intent;
  if (job.key.ns == rules.own_namespace)
    return "no calibration run is made in Slackline's own namespace";
  if (!intent.batch_size) return "it gives no batch-size";
  if (intent.mode == WorkloadMode::kInference) return "it serves: calibration measures training";
  if (!job.problems.empty()) return "its template cannot be read: " + job.problems.front();
  if (!catalog.is_whole(primary_gpu_resource(job.pod_requests)))
    return "it asks for parts of GPUs: only whole ones are modelled";
  if (!job.gpus_may_change()) return "several of its containers ask for GPUs";
  if (starts_one_by_one(job))
    return "its pods are independent of each other: a run is a gang, or a single pod";
  return "";
}

double trained_s(const Job& job) {
  return job.completed_s ? *job.completed_s - job.started_s.value_or(*job.completed_s) : 0;
}

class Studier {
 public:
  Studier(const ClusterSnapshot& snapshot, const Situation& situation,
          const CalibrationRules& rules)
      : situation_(situation),
        rules_(rules),
        pools_(derive_pools(snapshot, *situation.catalog)),
        past_(past_trials(snapshot)) {}

  void look_at(const JobPtr& job) {
    const std::string model = *job->intent->workload();
    if (const std::string why = why_not_of(*job, *situation_.catalog, rules_); !why.empty()) {
      study_.none.push_back({job, model, {}, why});
      return;
    }
    const std::string resource = primary_gpu_resource(job->pod_requests);
    const AcceptedTypes accepted(*job->intent, *situation_.catalog, resource);
    bool any = false;
    for (const Pool& pool : pools_) {
      if (pool.resource != resource || !accepted.preference(pool.type)) continue;
      any = true;
      look_at(job, model, pool);
    }
    if (!any) study_.none.push_back({job, model, {}, "no node has GPUs that it accepts"});
  }

  CalibrationStudy take() { return std::move(study_); }

 private:
  void look_at(const JobPtr& job, const std::string& model, const Pool& pool) {
    const auto prepared = situation_.predictor->prepare(*job->intent, pool.type);
    const std::vector<Placement> shapes = shapes_of(*job, pool);
    const auto source_of = [&](const Placement& shape) {
      const auto told = prepared ? prepared->predict(shape) : std::nullopt;
      return told ? told->source : PredictionSource::kDefault;
    };
    for (const Placement& shape : shapes) {
      const PredictionSource source = source_of(shape);
      if (!is_of_this_model(source) || source == PredictionSource::kMeasured) continue;
      study_.none.push_back(
          {job, model, pool.type, format("its speed is known: {}", to_string(source))});
      return;
    }
    std::vector<Placement> measured;
    std::vector<Placement> open;
    for (const Placement& shape : shapes)
      sort_in({.from = job, .model = model, .gpu_type = pool.type, .shape = shape},
              source_of(shape) == PredictionSource::kMeasured, measured, open);
    const std::vector<TrialGain> chosen = choose_trials(measured, open);
    for (const TrialGain& gain : chosen) {
      Trial trial = wanted_.at(gain.shape);
      trial.bits = gain.bits;
      study_.trials.push_back(std::move(trial));
    }
    wanted_.clear();
    if (chosen.empty() && open.empty() && measured.empty())
      study_.none.push_back({job, model, pool.type, "no shape that it allows fits"});
  }

  // Of what has begun, the row says what became of it.
  void sort_in(Trial trial, bool is_measured, std::vector<Placement>& measured,
               std::vector<Placement>& open) {
    const auto at = past_.find({trial.model, trial.gpu_type, trial.shape});
    const PastTrial* last = at == past_.end() ? nullptr : &at->second.back();
    trial.tries = at == past_.end() ? 0 : static_cast<int>(at->second.size());
    trial.iterations = last == nullptr ? first_iterations(*trial.from) : last->iterations;
    trial.state = is_measured ? TrialState::kMeasured : TrialState::kWanted;
    if (!is_measured && last != nullptr) continue_after(*last, trial);
    if (trial.state == TrialState::kWanted) {
      open.push_back(trial.shape);
      wanted_.insert_or_assign(trial.shape, std::move(trial));
      return;
    }
    if (trial.state != TrialState::kFailed) measured.push_back(trial.shape);
    study_.trials.push_back(std::move(trial));
  }

  // Nothing was measured with this batch. A run that ended well may have trained for less than its
  // Job took, or nobody saw all of it.
  void continue_after(const PastTrial& last, Trial& trial) const {
    const Job& job = *last.job;
    if (!job.finished) {
      trial.state = job.suspended ? TrialState::kWaits : TrialState::kRuns;
      return;
    }
    const bool succeeded = job.completed_s.has_value();
    const bool was_ended = job.active_deadline_s == kEndedBy_s;  // for another task
    if (succeeded && trained_s(job) >= kShortTraining_s && may_still_tell(job, trial)) {
      trial.state = TrialState::kMeasured;
    } else if (trial.tries >= kMostTries || (!succeeded && !was_ended && trial.tries > 1)) {
      trial.state = TrialState::kFailed;
    } else if (succeeded) {
      const double factor = std::max(2.0, kUsefulTraining_s / std::max(1.0, trained_s(job)));
      trial.iterations =
          saturating_mul(last.iterations, static_cast<std::int64_t>(std::ceil(factor)));
    }
  }

  // Its sample is on its way, or stands in the models with another batch.
  bool may_still_tell(const Job& job, const Trial& trial) const {
    return situation_.now_wall_s < *job.completed_s + kSampleComes_s ||
           job.intent->batch_size != trial.from->intent->batch_size;
  }

  std::int64_t first_iterations(const Job& job) const {
    return std::min(rules_.iterations, job.intent->iterations.value_or(rules_.iterations));
  }

  std::vector<Placement> shapes_of(const Job& job, const Pool& pool) const {
    const TaskIntent& intent = *job.intent;
    const std::int64_t batch = *intent.batch_size;
    const std::int64_t replica = std::max<std::int64_t>(1, intent.model_parallel.value_or(1));
    const std::int64_t gpus = written_pod(job)->requests.gpu_count(pool.resource);
    const Placement written = clamped_placement(written_pods(job), gpus);
    std::vector<Placement> shapes = intent.placements;
    if (intent.any_placement)
      shapes = enumerate_placements(pool, {.batch = batch,
                                           .divisible = true,
                                           .max_gpus = kMostTrialGpus,
                                           .model_parallel = replica});
    shapes.push_back(written);
    std::sort(shapes.begin(), shapes.end());
    shapes.erase(std::unique(shapes.begin(), shapes.end()), shapes.end());
    std::erase_if(shapes, [&](const Placement& shape) {
      return shape.gpus() > kMostTrialGpus || shape.gpus() / replica > batch ||
             !holds_replicas(shape, pool.gpus_per_node, replica) || shape.d_node > pool.nodes ||
             shape.d_gpn > pool.gpus_per_node ||
             (!takes_any_nodes(job) && shape.d_node != written.d_node);
    });
    return shapes;
  }

  const Situation& situation_;
  const CalibrationRules& rules_;
  const std::vector<Pool> pools_;
  const PastTrials past_;
  std::map<Placement, Trial> wanted_;  // of one model and GPU type
  CalibrationStudy study_;
};

}  // namespace

std::string_view to_string(TrialState state) {
  switch (state) {
    case TrialState::kWanted:
      return "wanted";
    case TrialState::kWaits:
      return "waits";
    case TrialState::kRuns:
      return "runs";
    case TrialState::kMeasured:
      return "measured";
    case TrialState::kFailed:
      break;
  }
  return "failed";
}

CalibrationStudy study_calibrations(const ClusterSnapshot& snapshot, const Situation& situation,
                                    const CalibrationRules& rules, std::string_view model) {
  std::map<std::string, JobPtr> youngest;
  for (const JobPtr& job : snapshot.jobs) {
    if (job->calibration != CalibrationMark::kAllowed || job->intent == nullptr) continue;
    const auto of = job->intent->model ? job->intent->workload() : std::nullopt;
    if (!of || (!model.empty() && *of != model) || !job->pod_requests.wants_gpus()) continue;
    JobPtr& kept = youngest[*of];
    if (kept == nullptr ||
        std::tie(kept->created_s, kept->key) < std::tie(job->created_s, job->key))
      kept = job;
  }
  if (youngest.empty()) return {};
  Studier studier(snapshot, situation, rules);
  for (const auto& [of, job] : youngest)
    studier.look_at(job);
  return studier.take();
}

}  // namespace slackline::core
