// SchedulerNews: tells when the kube-scheduler that schedules does so without Slackline, as another
// replica sees it: the pod of the one that holds kube-scheduler's Lease has not been ready for
// kAloneAfter_s.
//
//   SlacklineNotAsked   Warning   on that pod; again every kAgain_s while it lasts
//   slackline_scheduler_alone     1 while it lasts
//
// Not thread-safe.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "cluster/watch/source.h"
#include "message/task_event.h"
#include "obs/metrics.h"
#include "slackline/base/clock.h"

namespace slackline::control {

inline constexpr double kAloneAfter_s = 60;

class SchedulerNews {
 public:
  static constexpr double kAgain_s = 600;
  // Takes an Event to be posted, or refuses it for now.
  using Post = std::function<bool(TaskEvent)>;

  // Of the replicas in the namespace; `host` is this one's. All references outlive it.
  SchedulerNews(std::string ns, std::string host, const cluster::ClusterSource& source, Post post,
                obs::MetricsRegistry& metrics, const Clock& clock);

  // `holder`: the host of the kube-scheduler that schedules; empty: it is not known.
  void look(const std::string& holder);

 private:
  // The holder's pod, if it is another one than this one's and is not ready.
  PodPtr unready_pod(const std::string& holder) const;
  bool tell(const Pod& pod, double for_s) const;

  const std::string ns_;
  const std::string host_;
  const cluster::ClusterSource& source_;
  const Post post_;
  const Clock& clock_;
  const obs::Gauge alone_;
  Uid pod_;             // that is not ready
  double since_s_ = 0;  // it has been seen so, steady
  double tell_s_ = 0;   // not before
};

}  // namespace slackline::control
