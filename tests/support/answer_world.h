// Small random clusters with runs under way and a queue behind them, for tests of answers: two GPU
// types, models whose claimed error is given, deadlines that are tight and loose. The same for the
// same seed. Needs layer core.
#pragma once

#include <cmath>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "slackline/base/text.h"
#include "slackline/core/cluster/queue.h"
#include "slackline/core/throughput/predictor.h"
#include "support/cluster_builder.h"

namespace slackline::test {

// A Job that runs on this node, with its pod.
inline void add_running(ClusterBuilder& cluster, JobBuilder job, const std::string& name,
                        std::int64_t gpus, const std::string& node, const std::string& gpu_type,
                        double started_s) {
  Job made = job.gpus(gpus).managed().planned({node}, "plan-" + name).started(started_s).build();
  auto plan = std::make_shared<PlanNote>(*made.plan);
  plan->gpu_type = GpuType(gpu_type);
  made.plan = std::move(plan);
  made.resumed = true;
  made.active = 1;
  cluster.add(made);
  const std::string pod = name + "-0";
  cluster.with(a_pod(pod)
                   .of_job(name)
                   .label("job-name", name)
                   .gpus(gpus)
                   .on(node)
                   .managed()
                   .started(started_s));
}

class AnswerWorld {
 public:
  static constexpr double kNow_s = 1'000'000;

  // `error`: standard deviation of ln(observed / predicted), as the models claim it.
  AnswerWorld(std::uint64_t seed, double error) : random_(seed) {
    const double p90 = 100 * (std::exp(1.6448536 * error) - 1);
    std::vector<ProfileEntry> entries;
    for (const char* type : {"A100", "K80"}) {
      ProfileEntry entry{"bert", GpuType(type), {"S", {10, 1, 0, 0.1, 1.4}}, 30, 12, 0.0, ""};
      if (std::string(type) == "A100") entry.coefficients.params[0] = 30;
      entry.held_out_p90 = p90;
      entries.push_back(entry);
    }
    options_.predictor = std::make_shared<const core::Predictor>(WorkloadProfiles(entries));
    options_.catalog = &catalog_;
    options_.now_wall_s = options_.now_steady_s = kNow_s;
    options_.foresee = true;
    options_.may_stop = true;
    make();
    if (!lengthen_overdue()) return;
    random_.seed(seed);
    make();
  }

  const core::QueueOptions& options() const { return options_; }
  const ClusterSnapshot& snapshot() const { return snapshot_; }
  const std::vector<std::string>& waiting() const { return waiting_; }
  std::int64_t pick(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
  }
  double normal() { return std::normal_distribution<double>()(random_); }

 private:
  // A run that is overdue contradicts its exact run time: it takes twice as long as it has gone on.
  // False: there is none.
  bool lengthen_overdue() {
    core::TaskMenus menus;
    const core::Queue queue = make_queue(snapshot_, options_, menus);
    for (const core::TaskIndex task : queue.state().running()) {
      const double work_s = queue.state().running_choice(task).work_s;
      const double gone_s = kNow_s - queue.state().progress(task).run.started_s;
      if (gone_s >= work_s) longer_[queue.task(task).key.name] = 2 * gone_s / work_s;
    }
    return !longer_.empty();
  }

  // A run of some minutes to some hours.
  JobBuilder job(const std::string& name) {
    return a_job(name).trains("bert", 64, pick(200, 4000)).created(kNow_s - 7200 + next_++);
  }

  void make() {
    next_ = 0;
    waiting_.clear();
    ClusterBuilder cluster;
    const std::int64_t old = pick(2, 4);
    const std::int64_t fast = pick(1, 2);
    for (std::int64_t i = 0; i < old + fast; ++i) {
      const bool is_old = i < old;
      const std::string node = format("n{}", i);
      cluster.with(a_node(node).of(is_old ? "K80" : "A100", 4));
      for (std::int64_t left = 4; left > 0;) {
        const std::int64_t gpus = std::min<std::int64_t>(left, std::int64_t{1} << pick(0, 2));
        left -= gpus;
        if (pick(0, 4) == 0) continue;
        const std::string name = format("runs-{}-{}", i, left);
        JobBuilder runs = job(name);  // drawn before its start, by every compiler
        if (const auto times = longer_.find(name); times != longer_.end())
          *runs.intent().iterations *= std::llround(std::ceil(times->second));
        add_running(cluster, runs, name, gpus, node, is_old ? "K80" : "A100",
                    kNow_s - static_cast<double>(pick(700, 3000)));
      }
    }
    for (std::int64_t i = pick(2, 8); i > 0; --i) {
      waiting_.push_back(format("waits-{}", i));
      JobBuilder waits = job(waiting_.back()).gpus(std::int64_t{1} << pick(0, 2)).waiting();
      if (pick(0, 1) == 0) waits.intent().gpu_types = {GpuType(pick(0, 2) == 0 ? "A100" : "K80")};
      if (pick(0, 2) > 0)
        waits.intent().deadline_s = kNow_s + static_cast<double>(pick(1200, 30000));
      cluster.with(waits);
    }
    snapshot_ = cluster.build();
  }

  std::mt19937_64 random_;
  const GpuCatalog catalog_ = default_gpu_catalog();
  core::QueueOptions options_;
  ClusterSnapshot snapshot_;
  std::vector<std::string> waiting_;
  std::map<std::string, double> longer_;  // so many times, those that would be overdue
  int next_ = 0;
};

}  // namespace slackline::test
