// Builders of single nodes, pods and Jobs for tests; cluster_builder.h puts them together.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "slackline/model/pod.h"
#include "slackline/model/quota.h"

namespace slackline::test {

inline constexpr const char* kGpu = "nvidia.com/gpu";
inline constexpr std::int64_t kGiB = std::int64_t{1} << 30;

inline ObjectKey key_of(const std::string& name) {
  const std::size_t slash = name.find('/');
  if (slash == std::string::npos) return {"default", name};
  return {name.substr(0, slash), name.substr(slash + 1)};
}

inline Uid pod_uid(const std::string& name) {
  return Uid("uid:" + key_of(name).str());
}
inline Uid job_uid(const std::string& name) {
  return Uid("job:" + key_of(name).str());
}

inline void add_label(Labels& labels, std::string key, std::string value) {
  labels.emplace_back(std::move(key), std::move(value));
  std::sort(labels.begin(), labels.end());
}

inline std::shared_ptr<const PlanNote> a_plan(const std::string& id, Placement shape,
                                              const std::vector<std::string>& nodes,
                                              std::optional<double> predicted_s = {}) {
  PlanNote plan;
  plan.id = id;
  plan.predicted_s = predicted_s;
  plan.shape = shape;
  for (const std::string& node : nodes)
    plan.nodes.emplace_back(node);
  plan.value_hash = std::hash<std::string>{}(id);
  return std::make_shared<const PlanNote>(plan);
}

class NodeBuilder {
 public:
  explicit NodeBuilder(const std::string& name) {
    node_.name = NodeName(name);
    node_.uid = Uid("node:" + name);
    of("", 4);
  }
  NodeBuilder& of(const std::string& gpu_type, std::int64_t gpus) {
    node_.gpu_type = GpuType(gpu_type);
    node_.allocatable = Resources{8000 * gpus, 64 * kGiB * gpus, 110, {}};
    node_.allocatable.set_gpus(kGpu, gpus);
    return *this;
  }
  NodeBuilder& resource(const std::string& name, std::int64_t count) {
    node_.allocatable.set_gpus(name, count);
    return *this;
  }
  NodeBuilder& unhealthy(std::int64_t gpus) { return node_.unhealthy = {{kGpu, gpus}}, *this; }
  NodeBuilder& other(const std::string& name, std::int64_t count) {
    return set_count(node_.allocatable.others, name, count), *this;
  }
  NodeBuilder& cpus(std::int64_t count) {
    return node_.allocatable.cpu_milli = 1000 * count, *this;
  }
  NodeBuilder& memory(std::int64_t bytes) { return node_.allocatable.memory_bytes = bytes, *this; }
  NodeBuilder& label(const std::string& key, const std::string& value) {
    add_label(node_.labels, key, value);
    return node_.blocks = default_gpu_catalog().blocks_of(node_.labels), *this;
  }
  NodeBuilder& taint(const std::string& key, const std::string& value,
                     TaintEffect effect = TaintEffect::kNoSchedule) {
    return node_.taints.push_back({key, value, effect}), *this;
  }
  NodeBuilder& cordoned() { return node_.unschedulable = true, *this; }
  NodeBuilder& not_ready() { return node_.ready = false, *this; }
  NodeBuilder& unreadable(const std::string& why) { return node_.problems.push_back(why), *this; }
  Node build() const { return node_; }

 private:
  Node node_;
};

class PodBuilder {
 public:
  explicit PodBuilder(const std::string& name) {
    pod_.key = key_of(name);
    pod_.uid = pod_uid(name);
    pod_.requests = Resources{1000, kGiB, 1, {}};
  }
  PodBuilder& gpus(std::int64_t count, const std::string& resource = kGpu) {
    return pod_.requests.set_gpus(resource, count), *this;
  }
  PodBuilder& other(const std::string& name, std::int64_t count) {
    return set_count(pod_.requests.others, name, count), *this;
  }
  PodBuilder& cpus(std::int64_t count) { return pod_.requests.cpu_milli = 1000 * count, *this; }
  PodBuilder& memory(std::int64_t bytes) { return pod_.requests.memory_bytes = bytes, *this; }
  PodBuilder& priority(std::int32_t rank) { return pod_.priority = rank, *this; }
  PodBuilder& on(const std::string& node) {
    pod_.node = NodeName(node);
    pod_.phase = PodPhase::kRunning;
    return *this;
  }
  PodBuilder& nominated(const std::string& node) {
    return pod_.nominated_node = NodeName(node), *this;
  }
  PodBuilder& gated() { return pod_.gated = pod_.our_gate = true, *this; }
  PodBuilder& managed() { return pod_.managed = true, *this; }
  PodBuilder& scheduled_by(const std::string& name) { return pod_.scheduler_name = name, *this; }
  PodBuilder& deleting() { return pod_.deleting = true, *this; }
  PodBuilder& gone_by(double epoch_s) { return pod_.gone_by_s = epoch_s, deleting(); }
  PodBuilder& phase(PodPhase phase) { return pod_.phase = phase, *this; }
  PodBuilder& not_starting(const std::string& why) {
    return pod_.not_starting = why, phase(PodPhase::kPending);
  }
  PodBuilder& created(double epoch_s) { return pod_.created_s = epoch_s, *this; }
  PodBuilder& started(double epoch_s) { return pod_.started_s = epoch_s, *this; }
  PodBuilder& label(const std::string& key, const std::string& value) {
    return add_label(pod_.labels, key, value), *this;
  }
  PodBuilder& of_job(const std::string& name) {
    pod_.owner =
        OwnerRef{"Job", key_of(name).name, Uid("job:" + pod_.key.ns + "/" + key_of(name).name)};
    return *this;
  }
  PodBuilder& owned_by(const std::string& kind, const std::string& name) {
    pod_.owner = OwnerRef{kind, name, Uid(kind + ":" + pod_.key.ns + "/" + name)};
    return *this;
  }
  PodBuilder& in_gang(const std::string& gang, std::int64_t size) {
    intent_.gang = gang;
    intent_.gang_size = size;
    return *this;
  }
  PodBuilder& trains(const std::string& model, std::int64_t batch, std::int64_t iterations) {
    intent_.model = model;
    intent_.batch_size = batch;
    intent_.iterations = iterations;
    return *this;
  }
  PodBuilder& accepts(const std::vector<std::string>& gpu_types) {
    for (const std::string& type : gpu_types)
      intent_.gpu_types.emplace_back(type);
    return *this;
  }
  PodBuilder& planned(const std::vector<std::string>& nodes, const std::string& id = "plan-1") {
    const auto gpus = static_cast<int>(pod_.requests.gpu_total());
    pod_.plan = a_plan(id, {static_cast<int>(nodes.size()), std::max(gpus, 1)}, nodes);
    return *this;
  }
  PodBuilder& slots(const std::string& resource, std::vector<int> slots) {
    return pod_.device_slots.push_back({resource, std::move(slots)}), *this;
  }
  PodBuilder& problem(const std::string& why) { return pod_.problems.push_back(why), *this; }
  // What has no word of its own yet.
  TaskIntent& intent() { return intent_; }
  PodBuilder& constrained(SchedulingConstraints constraints) {
    pod_.constraints = std::make_shared<const SchedulingConstraints>(std::move(constraints));
    return *this;
  }
  Pod build() const {
    Pod pod = pod_;
    pod.intent = std::make_shared<const TaskIntent>(intent_);
    return pod;
  }

 private:
  Pod pod_;
  TaskIntent intent_;
};

class JobBuilder {
 public:
  explicit JobBuilder(const std::string& name) {
    job_.key = key_of(name);
    job_.uid = job_uid(name);
    job_.pod_requests = Resources{1000, kGiB, 1, {}};
  }
  JobBuilder& of(std::int64_t pods, std::int64_t completions = 0) {
    job_.parallelism = pods;
    job_.completions = std::max(pods, completions);
    return *this;
  }
  JobBuilder& gang() { return job_.indexed = true, *this; }
  JobBuilder& cpus(std::int64_t per_pod) {
    return job_.pod_requests.cpu_milli = 1000 * per_pod, *this;
  }
  JobBuilder& other(const std::string& name, std::int64_t per_pod) {
    return set_count(job_.pod_requests.others, name, per_pod), *this;
  }
  JobBuilder& gpus(std::int64_t per_pod, const std::string& resource = kGpu) {
    return job_.pod_requests.set_gpus(resource, per_pod), *this;
  }
  JobBuilder& priority(std::int32_t rank) { return job_.priority = rank, *this; }
  JobBuilder& suspended() { return job_.suspended = true, *this; }
  JobBuilder& managed() { return job_.managed = true, *this; }
  // As the Job webhook leaves it: suspended by Slackline, to wait in the queue.
  JobBuilder& waiting() {
    job_.suspended_by_us = true;
    job_.gpu_container = "train";
    job_.halted = true;
    return managed().suspended();
  }
  // Of its only container, with these amounts.
  JobBuilder& amounts(const ContainerAmounts& amounts) {
    job_.amounts = amounts;
    job_.pod_requests.cpu_milli = requested_cpu_milli(amounts);
    job_.pod_requests.memory_bytes = requested_memory_bytes(amounts);
    job_.cpu_limit_milli = limited_cpu_milli(amounts);
    return *this;
  }
  JobBuilder& image(const std::string& image) { return job_.image = image, *this; }
  JobBuilder& not_halted() { return job_.halted = false, *this; }
  JobBuilder& finished() { return job_.finished = true, *this; }
  JobBuilder& deleting() { return job_.deleting = true, *this; }
  JobBuilder& limited(std::int64_t seconds) { return job_.active_deadline_s = seconds, *this; }
  JobBuilder& completed(double epoch_s) { return job_.completed_s = epoch_s, *this; }
  // For others, so often.
  JobBuilder& of_class(const std::string& priority_class) {
    job_.priority_class = priority_class;
    return *this;
  }
  JobBuilder& stopped(std::int64_t count, double at_s = 0) {
    PreemptionNote note;
    note.count = count;
    note.at_s = at_s;
    job_.preemptions = std::make_shared<const PreemptionNote>(std::move(note));
    return *this;
  }
  JobBuilder& resumed() { return job_.resumed = true, *this; }
  JobBuilder& succeeded(std::int64_t pods) { return job_.succeeded = pods, *this; }
  JobBuilder& started(double epoch_s) { return job_.started_s = epoch_s, *this; }
  JobBuilder& created(double epoch_s) { return job_.created_s = epoch_s, *this; }
  JobBuilder& owned_by(const std::string& kind, const std::string& name) {
    job_.owner = OwnerRef{kind, name, Uid(kind + ":" + job_.key.ns + "/" + name)};
    return *this;
  }
  JobBuilder& planned(const std::vector<std::string>& nodes, const std::string& id = "plan-1",
                      std::optional<double> predicted_s = {}) {
    const auto gpus = static_cast<int>(job_.pod_requests.gpu_total());
    job_.plan = a_plan(id, {static_cast<int>(nodes.size()), std::max(gpus, 1)}, nodes, predicted_s);
    return *this;
  }
  TaskIntent& intent() { return intent_; }
  JobBuilder& constrained(SchedulingConstraints constraints) {
    job_.constraints = std::make_shared<const SchedulingConstraints>(std::move(constraints));
    return *this;
  }
  JobBuilder& trains(const std::string& model, std::int64_t batch, std::int64_t iterations) {
    intent_.model = model;
    intent_.batch_size = batch;
    intent_.iterations = iterations;
    return *this;
  }
  Job build() const {
    Job job = job_;
    job.intent = std::make_shared<const TaskIntent>(intent_);
    return job;
  }

 private:
  Job job_;
  TaskIntent intent_;
};

class QuotaBuilder {
 public:
  explicit QuotaBuilder(const std::string& name) { quota_.key = key_of(name); }
  QuotaBuilder& limit(const std::string& resource, std::int64_t hard, std::int64_t used = 0) {
    return quota_.limits.push_back({resource, hard, used}), *this;
  }
  QuotaBuilder& not_best_effort() { return quota_.needs_cpu_or_memory = true, *this; }
  QuotaBuilder& scoped() { return quota_.other_scopes = true, *this; }
  ResourceQuota build() const { return quota_; }

 private:
  ResourceQuota quota_;
};

inline QuotaBuilder a_quota(const std::string& name) {
  return QuotaBuilder(name);
}
inline NodeBuilder a_node(const std::string& name) {
  return NodeBuilder(name);
}
inline PodBuilder a_pod(const std::string& name) {
  return PodBuilder(name);
}
inline JobBuilder a_job(const std::string& name) {
  return JobBuilder(name);
}

}  // namespace slackline::test
