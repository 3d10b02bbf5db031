// AdmissionTest: the webhook's decisions on reviews as the API server sends them.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>

#include "control/serve/admission.h"
#include "slackline/core/portrait/family.h"
#include "slackline/core/portrait/learn.h"
#include "slackline/core/throughput/predictor.h"
#include "support/admission_bodies.h"
#include "support/cluster_builder.h"
#include "support/portrait_runs.h"
#include "support/profiles.h"
#include "wire/admission/admission_codec.h"

namespace slackline::control {

using test::a_cluster;
using test::a_node;
using test::ReviewText;

inline constexpr std::string_view kUs = "system:serviceaccount:slackline-system:slackline";
inline constexpr std::string_view kJobController =
    "system:serviceaccount:kube-system:job-controller";
inline constexpr std::string_view kAdmitted = R"("labels":{"slackline.dev/managed":"true"})";

inline std::string annotations(const std::string& pairs) {
  return R"("annotations":{)" + pairs + "}";
}

inline ReviewText job(const std::string& pairs) {
  ReviewText text;
  text.metadata = annotations(pairs);
  return text;
}

// An update of an admitted Job from the annotations `before` to `after`.
inline ReviewText update(const std::string& before, const std::string& after) {
  ReviewText old = job(before);
  old.template_metadata = kAdmitted;
  old.metadata += R"(,"creationTimestamp":"2027-01-15T08:00:00Z")";
  ReviewText text = job(after);
  text.template_metadata = kAdmitted;
  text.metadata += R"(,"creationTimestamp":"2027-01-15T08:00:00Z")";
  text.operation = "UPDATE";
  text.old_object = test::job_text(old);
  return text;
}

// So many runs of the family `nightly` in team-a: an hour on two K80, each.
inline std::shared_ptr<const core::PortraitBook> nights(int runs) {
  Portrait portrait;
  portrait.identity.department = "team-a";
  portrait.identity.family = "nightly";
  for (int night = 1; night <= runs; ++night) {
    PortraitRun run = test::a_run(night, {.gpu = 0.3, .gpu_memory = 0.2});
    run.gpu_type = GpuType("K80");
    run.shape = run.asked = {1, 2};
    core::add_run(portrait, run);
  }
  core::PortraitBook book;
  book.portraits[core::portrait_key(portrait.identity)] =
      std::make_shared<const Portrait>(portrait);
  return std::make_shared<const core::PortraitBook>(book);
}

class AdmissionTest : public ::testing::Test {
 protected:
  AdmissionTest() {
    facts.snapshot = &snapshot;
    facts.catalog = &catalog;
    facts.predictor = predictor;
    facts.now_wall_s = 1.8e9;  // 2027-01-15T08:00:00Z
    facts.scheduler_name = "gpu-scheduler";
    facts.own_user = kUs;
  }

  static AdmissionReview decoded(const std::string& text) {
    auto review = wire::decode_admission(text, default_gpu_catalog());
    EXPECT_TRUE(review) << (review ? "" : review.error().message);
    return review.value_or(AdmissionReview());
  }
  AdmissionDecision decide(const std::string& text, AdmissionStage stage) const {
    return decide_admission(decoded(text), stage, facts);
  }
  AdmissionDecision mutate(const ReviewText& text) const {
    return decide(test::job_review_text(text), AdmissionStage::kMutate);
  }
  AdmissionDecision validate(const ReviewText& text) const {
    return decide(test::job_review_text(text), AdmissionStage::kValidate);
  }
  AdmissionDecision mutate_pod(const ReviewText& text) const {
    return decide(test::pod_review_text(text), AdmissionStage::kMutate);
  }
  AdmissionDecision validate_pod(const ReviewText& text) const {
    return decide(test::pod_review_text(text), AdmissionStage::kValidate);
  }
  std::string refusal(const ReviewText& text) const {
    const AdmissionDecision mutated = mutate(text);
    const AdmissionDecision validated = validate(text);
    // What is refused at the creation is refused by both stages alike.
    if (text.operation == "CREATE") {
      EXPECT_EQ(mutated.refusal.has_value(), validated.refusal.has_value());
    }
    if (!validated.refusal) return "allowed";
    EXPECT_EQ(validated.warnings.size(), 0U);
    return std::string(validated.refusal->reason.str()) + ": " + validated.refusal->message;
  }

  void plan_train(Placement shape, const std::vector<std::string>& nodes) {
    Job train = test::a_job("team-a/train").build();
    train.plan = test::a_plan("plan-1", shape, nodes);
    snapshot.jobs = {std::make_shared<const Job>(std::move(train))};
  }

  std::string kind_of_resnet50() const {
    return std::string(
        core::to_string(predictor->predict("resnet50", 64, GpuType("K80"), Layout())->source));
  }

  GpuCatalog catalog = default_gpu_catalog();
  // 100 samples/s on one GPU, 200 on two.
  std::shared_ptr<const core::Predictor> predictor = std::make_shared<const core::Predictor>(
      WorkloadProfiles{{test::a_profile("resnet50", GpuType("K80"), {"S", {100, 0, 0, 0, 1}})}});
  ClusterSnapshot snapshot =
      a_cluster().with(a_node("gpu-1").of("K80", 4)).with(a_node("gpu-2").of("K80", 4)).build();
  AdmissionFacts facts;
};

}  // namespace slackline::control
