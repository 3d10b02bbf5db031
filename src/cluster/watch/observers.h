// Observers: one observer that calls several, in their order.
//
// Thread-safety: as theirs; they outlive it.
#pragma once

#include <utility>
#include <vector>

#include "cluster/watch/source.h"

namespace slackline::cluster {

class Observers final : public ClusterObserver {
 public:
  explicit Observers(std::vector<ClusterObserver*> observers) : observers_(std::move(observers)) {}
  // Before the source starts.
  void add(ClusterObserver& observer) { observers_.push_back(&observer); }

  void on_pod_bound(const Pod& pod, double seen_s) override {
    for (ClusterObserver* observer : observers_)
      observer->on_pod_bound(pod, seen_s);
  }
  void on_pod_running(const Pod& pod) override {
    for (ClusterObserver* observer : observers_)
      observer->on_pod_running(pod);
  }
  void on_pod_ended(const Pod& pod) override {
    for (ClusterObserver* observer : observers_)
      observer->on_pod_ended(pod);
  }
  void on_job(const Job& job) override {
    for (ClusterObserver* observer : observers_)
      observer->on_job(job);
  }
  void on_job_gone(const Uid& job) override {
    for (ClusterObserver* observer : observers_)
      observer->on_job_gone(job);
  }
  void on_plan_doubted(const std::string& kind, const ObjectKey& carrier,
                       PlanDoubt doubt) override {
    for (ClusterObserver* observer : observers_)
      observer->on_plan_doubted(kind, carrier, doubt);
  }

 private:
  std::vector<ClusterObserver*> observers_;
};

}  // namespace slackline::cluster
