#include "control/serve/scheduler_news.h"

#include <utility>

#include "slackline/base/duration.h"
#include "slackline/base/text.h"
#include "slackline/model/reason.h"

namespace slackline::control {

SchedulerNews::SchedulerNews(std::string ns, std::string host, const cluster::ClusterSource& source,
                             Post post, obs::MetricsRegistry& metrics, const Clock& clock)
    : ns_(std::move(ns)),
      host_(std::move(host)),
      source_(source),
      post_(std::move(post)),
      clock_(clock),
      alone_(metrics.gauge("slackline_scheduler_alone")) {}

void SchedulerNews::look(const std::string& holder) {
  const PodPtr pod = unready_pod(holder);
  const Uid uid = pod ? pod->uid : Uid();
  const double now_s = clock_.steady_s();
  if (uid != pod_) {
    pod_ = uid;
    since_s_ = now_s;
    tell_s_ = now_s + kAloneAfter_s;
  }
  const double for_s = now_s - since_s_;
  const bool alone = pod && for_s >= kAloneAfter_s;
  alone_.set(alone ? 1 : 0);
  if (alone && now_s >= tell_s_ && tell(*pod, for_s)) tell_s_ = now_s + kAgain_s;
}

PodPtr SchedulerNews::unready_pod(const std::string& holder) const {
  if (holder.empty() || holder == host_ || !source_.health().trusted()) return nullptr;
  PodPtr pod = source_.snapshot()->find_pod({ns_, holder});
  return pod && !pod->ready ? pod : nullptr;
}

bool SchedulerNews::tell(const Pod& pod, double for_s) const {
  TaskEvent event;
  event.kind = "Pod";
  event.object = pod.key;
  event.uid = pod.uid;
  event.reason = reason::kSlacklineNotAsked;
  event.message = format(
      "{}, for {}: GPU pods go where the stock scheduler puts them; kubectl -n {} describe pod {}",
      find_reason(reason::kSlacklineNotAsked)->meaning, format_duration(for_s), pod.key.ns,
      pod.key.name);
  event.warning = true;
  return post_(std::move(event));
}

}  // namespace slackline::control
