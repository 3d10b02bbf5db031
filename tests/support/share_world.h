// A cluster whose GPUs are shared by queues, and the planner's queue of it.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "answer_world.h"
#include "cluster_builder.h"
#include "slackline/core/cluster/queue_shares.h"

namespace slackline::test {

inline constexpr double kSharedAt_s = 1'000'000;

inline JobBuilder in_queue(const std::string& name, const std::string& queue, double created_s) {
  auto job = a_job(name).created(kSharedAt_s - 1000 + created_s);
  job.intent().expected_duration_s = 3600;
  job.intent().queue = queue;
  return job;
}

// Four nodes with four A100 each: vision owns 6 and may borrow 4, text owns 6, and 4 are of the
// pool.
class ShareWorld : public testing::Test {
 protected:
  ShareWorld() {
    rulebook_.named["vision"].shares = {{"a100", {6, 4}}};
    rulebook_.named["text"].shares = {{"A100", {6, 0}}};
    options_.catalog = &catalog_;
    options_.predictor = std::make_shared<const core::Predictor>(WorkloadProfiles{});
    options_.now_wall_s = options_.now_steady_s = kSharedAt_s;
    options_.queues = &rulebook_;
    options_.may_stop = true;
    for (const char* node : {"n1", "n2", "n3", "n4"})
      cluster_.with(a_node(node).of("A100", 4));
  }

  core::Queue queue() {
    snapshot_ = cluster_.build();
    return core::make_queue(snapshot_, options_, menus_);
  }

  // Who starts now, in the order of the plan.
  std::vector<std::string> starts(std::string_view policy = "default") {
    core::Queue found = queue();
    std::vector<std::string> names;
    for (const core::Effect& effect :
         core::plan(found.state(), kSharedAt_s, *core::parse_policy(policy)).effects)
      if (effect.is_start()) names.push_back(found.task(effect.task).key.name);
    return names;
  }

  void waits(const std::string& name, const std::string& queue, int gpus, double created_s) {
    cluster_.with(in_queue(name, queue, created_s).gpus(gpus).waiting());
  }
  void runs(const std::string& name, const std::string& queue, int gpus, const std::string& node,
            double started_s) {
    add_running(cluster_, in_queue(name, queue, 0), name, gpus, node, "A100",
                kSharedAt_s - 600 + started_s);
  }

  const GpuCatalog catalog_ = default_gpu_catalog();
  QueueRulebook rulebook_;
  core::QueueOptions options_;
  ClusterBuilder cluster_ = a_cluster();
  ClusterSnapshot snapshot_;
  core::TaskMenus menus_;
};

}  // namespace slackline::test
