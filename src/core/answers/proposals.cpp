// What a task could ask for instead.
#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "slackline/base/duration.h"
#include "slackline/base/text.h"
#include "slackline/core/answers/changes.h"
#include "slackline/core/answers/explain.h"
#include "slackline/core/planning/gpu_types.h"
#include "slackline/core/planning/stated_duration.h"

namespace slackline::core {
namespace {

constexpr double kDeadlineStep_s = 300;
constexpr int kMostSmaller = 4;

class Proposer {
 public:
  Proposer(const ExplainQuestion& question, const ChangeOptions& options)
      : question_(question), options_(options), task_(question.queue.task(question.task)) {}

  std::vector<Proposal> all() {
    if (variant_of(task_, "probe").job || variant_of(task_, "probe").pod) {
      add_types();
      add_free_shape();
      add_fewer_gpus();
      add_deadline();
      add_classes();
    }
    return std::move(proposals_);
  }

 private:
  Proposal& add(ChangeKind kind, std::string what) {
    const std::string uid = format("slackline-change-{}", proposals_.size());
    proposals_.push_back({kind, std::move(what), variant_of(task_, uid)});
    return proposals_.back();
  }

  // Half as many, and so on: a pod's GPUs, or the pods of a gang of one-GPU pods.
  void add_fewer_gpus() {
    if (task_.shape_is_free) return;  // Slackline chooses already
    std::int64_t gpus = task_.request.gpus;
    std::int64_t pods = task_.request.pods;
    for (int i = 0; i < kMostSmaller; ++i) {
      const bool fewer_pods = gpus == 1 && pods > 1 && task_.job && task_.job->nodes_may_change();
      if (fewer_pods && pods % 2 == 0)
        pods /= 2;
      else if (gpus > 1 && gpus % 2 == 0 && (!task_.job || task_.job->gpus_may_change()))
        gpus /= 2;
      else
        return;
      Proposal& proposal =
          add(ChangeKind::kFewerGpus,
              pods == 1 ? format("{} instead of {}", counted(gpus, "GPU"), written())
                        : format("{} pods of {} instead of {}", pods, counted(gpus, "GPU"),
                                 counted(written(), "GPU")));
      shrink(proposal.variant, pods, gpus);
    }
  }

  std::int64_t written() const { return task_.request.pods * task_.request.gpus; }

  // A stated run time grows as the GPUs become fewer.
  void shrink(Variant& variant, std::int64_t pods, std::int64_t gpus) const {
    TaskIntent& intent = changed_intent(variant);
    intent.placements.clear();
    if (intent.expected_duration_s)
      *intent.expected_duration_s *=
          static_cast<double>(written()) / static_cast<double>(pods * gpus);
    if (variant.job) {
      auto job = std::make_shared<Job>(*variant.job);
      job->pod_requests.set_gpus(task_.request.resource, gpus);
      job->original = nullptr;
      if (pods != task_.request.pods) job->completions = job->parallelism = pods;
      variant.job = std::move(job);
    } else {
      auto pod = std::make_shared<Pod>(*variant.pod);
      pod->requests.set_gpus(task_.request.resource, gpus);
      variant.pod = std::move(pod);
    }
  }

  // Each type that it does not accept, or for which it waits to be open.
  void add_types() {
    const AcceptedTypes accepted(*task_.intent, question_.catalog, task_.request.resource);
    std::set<GpuType> seen;
    for (PoolIndex index = 0; index < question_.queue.pools().size(); ++index) {
      const QueuePool& pool = question_.queue.pools()[index];
      const GpuType& type = pool.pool.type;
      if (type.empty() || pool.pool.resource != task_.request.resource || pool.nodes.empty())
        continue;
      if (accepted.preference(type) &&
          question_.queue.state().open(question_.task, index, question_.now_s))
        continue;
      // How fast it runs on a part of a GPU nobody knows.
      if (question_.catalog.is_part(type) && !accepted.preference(type)) continue;
      if (!seen.insert(type).second) continue;
      Proposal& proposal =
          add(ChangeKind::kOtherType, format("gpu-types: {}", printable(type.str(), 64)));
      TaskIntent& intent = changed_intent(proposal.variant);
      intent.expected_duration_on = type_of_stated_duration(intent);
      intent.any_gpu_type = false;
      intent.gpu_types = {type};
    }
  }

  void add_free_shape() {
    TaskIntent free = *task_.intent;
    free.any_placement = true;
    const bool has_effect = !task_.intent->any_placement && shape_is_free(free, task_.request);
    if (!has_effect || !free.workload()) return;
    Proposal& proposal = add(ChangeKind::kFreeShape, "placements: auto");
    changed_intent(proposal.variant).any_placement = true;
  }

  // The one that nine futures in ten meet. Of a Job in the queue only its delay may be changed.
  void add_deadline() {
    const Forecast* forecast = question_.forecast ? question_.forecast(question_.task) : nullptr;
    if (!task_.deadline_s || forecast == nullptr || !task_.length_known()) return;
    const double p90_s = forecast->finish_s.p90();
    if (!std::isfinite(p90_s) || p90_s <= *task_.deadline_s) return;
    const double done_s = p90_s + task_.later_s;
    const bool promised = task_.job && task_.job->suspended_by_us;
    const double from_s = promised ? task_.created_s : 0;
    const double after_s = std::ceil((done_s - from_s) / kDeadlineStep_s + 1) * kDeadlineStep_s;
    const double later_s = from_s + after_s;
    Proposal& proposal = add(ChangeKind::kLaterDeadline,
                             promised ? format("deadline-after: {}", format_duration(after_s))
                                      : format("deadline: {}", format_rfc3339(later_s)));
    TaskIntent& intent = changed_intent(proposal.variant);
    intent.deadline_s = later_s;
    intent.deadline_after_s = std::nullopt;
  }

  void add_classes() {
    const QosClass now = task_.intent->qos_class.value_or(QosClass::kNormal);
    for (const QosClass higher : {QosClass::kPrior, QosClass::kUrgent}) {
      if (higher <= now || (higher == QosClass::kUrgent && !options_.may_be_urgent)) continue;
      Proposal& proposal =
          add(ChangeKind::kHigherClass, format("qos-class: {}", to_string(higher)));
      changed_intent(proposal.variant).qos_class = higher;
    }
  }

  const ExplainQuestion& question_;
  const ChangeOptions& options_;
  const QueueTask& task_;
  std::vector<Proposal> proposals_;
};

}  // namespace

std::vector<Proposal> proposals(const ExplainQuestion& question, const ChangeOptions& options) {
  return Proposer(question, options).all();
}

}  // namespace slackline::core
