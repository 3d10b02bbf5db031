// Teaching the daemon: on disk before it is acknowledged, fitted, published, there after a restart.
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/learn/model_writer.h"
#include "control/learn/models.h"
#include "slackline/base/file_kind.h"
#include "slackline/base/text.h"
#include "slackline/core/throughput/throughput.h"
#include "store/database.h"
#include "support/eventually.h"
#include "support/fake_clock.h"
#include "support/temporary_folder.h"

namespace slackline::control {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const GpuType kLearntType("T4");

ThroughputSample sample(double batch, const char* layout, double throughput) {
  return {"newnet", kLearntType,          batch, *parse_layout(layout), throughput,
          "a test", SampleOrigin::kImport};
}

ThroughputSample of_run(const char* run, ThroughputSample sample) {
  sample.run = Uid(run);
  return sample;
}

// Twelve points on five layouts, of one law.
std::vector<ThroughputSample> a_calibration() {
  const Coefficients law{"S", {24, 0.42, -0.0002, 0.12, 1.4}};
  std::vector<ThroughputSample> samples;
  for (const char* layout : {"1x1", "1x2", "1x4", "2x2", "2x4"})
    for (const double batch : {32, 64, 128})
      samples.push_back(sample(
          batch, layout, *core::predict_throughput(law, batch, parse_layout(layout)->spread())));
  return samples;
}

class ModelsTest : public ::testing::Test {
 protected:
  std::unique_ptr<Models> open() {
    auto models = Models::open({.path = path_, .queue_limit = 8, .busy_timeout_s = 0.05},
                               WorkloadProfiles{}, metrics_, clock_);
    EXPECT_TRUE(models) << models.error().message;
    return std::move(*models);
  }

  test::TemporaryFolder folder_;
  std::string path_ = folder_.file("slackline.models.db");
  obs::MetricsRegistry metrics_;
  test::FakeClock clock_;
};

TEST_F(ModelsTest, SamplesAreFittedPublishedAndThereAfterARestart) {
  {
    const auto models = open();
    const auto accepted = models->add_samples(a_calibration());
    ASSERT_TRUE(accepted) << accepted.error().message;
    EXPECT_EQ(accepted->accepted, 15);
    ASSERT_EQ(accepted->model.types.size(), 1U);
    const ModelTypeView& type = accepted->model.types.front();
    EXPECT_THAT(type.refusal, IsEmpty());
    ASSERT_TRUE(type.entry);
    EXPECT_TRUE(type.entry->held_out_mape);
    EXPECT_LT(*type.entry->held_out_mape, 10);
    EXPECT_EQ(type.version, 1);
    EXPECT_EQ(type.fitted_s, clock_.wall_s());
  }
  const auto again = open();
  const ModelView* view = again->known().get()->find("newnet");
  ASSERT_NE(view, nullptr);
  EXPECT_EQ(view->types.front().version, 1) << "the same samples are no new fit";
  EXPECT_EQ(view->types.front().samples, 15);
  EXPECT_TRUE(again->known().get()->profiles().find("newnet", kLearntType)->held_out_p90);
}

TEST_F(ModelsTest, OnlyTheTouchedPairIsFittedAgain) {
  const auto models = open();
  ASSERT_TRUE(models->add_samples(a_calibration()));
  auto other = a_calibration();
  for (ThroughputSample& each : other)
    each.gpu_type = GpuType("A100");
  const auto accepted = models->add_samples(other);
  ASSERT_TRUE(accepted);
  ASSERT_EQ(accepted->model.types.size(), 1U);
  EXPECT_EQ(accepted->model.types.front().gpu_type, GpuType("A100"));
  EXPECT_THAT(metrics_.expose(), AllOf(HasSubstr("slackline_model_fits_total{result=\"done\"} 2"),
                                       HasSubstr("slackline_model_fit_error_ratio_count 2"),
                                       HasSubstr("slackline_model_fit_duration_seconds_count 2"),
                                       HasSubstr("samples_total{origin=\"import\"} 30")));
}

TEST_F(ModelsTest, ARefusedFitKeepsTheSamplesAndSaysWhy) {
  const auto models = open();
  const auto accepted = models->add_samples({sample(64, "2x2", 100)});
  ASSERT_TRUE(accepted) << accepted.error().message;
  const ModelTypeView& type = accepted->model.types.front();
  EXPECT_EQ(type.samples, 1);
  EXPECT_FALSE(type.entry);
  EXPECT_THAT(type.refusal, ::testing::Not(IsEmpty()));
  EXPECT_THAT(metrics_.expose(), HasSubstr("slackline_model_fits_total{result=\"refused\"} 1"));
}

TEST_F(ModelsTest, ALockedDatabaseIsA503WithTheRemedyAndEverythingElseGoesOn) {
  const auto models = open();
  ASSERT_TRUE(models->add_samples(a_calibration()));
  std::string moved;
  auto other = store::Database::open_or_recover(
      {path_, {"", "", "", "", ""}, 0.05, store::kModelFile}, moved);
  // Another program holds the write lock.
  ASSERT_TRUE(other) << other.error().message;
  {
    auto lock = store::Transaction::begin(*other);
    ASSERT_TRUE(lock) << lock.error().message;
    const auto refused = models->add_samples({sample(64, "2x2", 100)});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::kUnavailable);
    EXPECT_THAT(refused.error().message, HasSubstr("send the same again"));
    EXPECT_THAT(metrics_.expose(), AllOf(HasSubstr("slackline_model_store_degraded 1"),
                                         HasSubstr("slackline_model_store_failures_total 1")));
    EXPECT_THAT(*models->problem().get(), HasSubstr("cannot be written"));
    EXPECT_EQ(models->known().get()->find("newnet")->types.front().samples, 15);
    models->record_run(of_run("run-1", sample(64, "2x2", 100)));
  }
  // The run waited in memory.
  ASSERT_TRUE(models->describe({"newnet", "nets", {}, {}, "a test"}));
  EXPECT_TRUE(test::eventually(
      [&] { return models->known().get()->find("newnet")->types.front().samples == 16; }));
  EXPECT_THAT(metrics_.expose(), HasSubstr("slackline_model_store_degraded 0"));
  EXPECT_THAT(*models->problem().get(), IsEmpty());
}

TEST_F(ModelsTest, DamageBeyondTheMirrorCostsWhatWasLearntAndIsTold) {
  ASSERT_TRUE(open()->add_samples(a_calibration()));
  for (const std::string& path : {path_, path_ + ".mirror"})
    std::ofstream(path, std::ios::binary) << std::string(8192, 'x');
  const auto models = open();
  EXPECT_EQ(models->known().get()->find("newnet"), nullptr);
  EXPECT_THAT(*models->problem().get(),
              AllOf(HasSubstr("was damaged"), HasSubstr("slackline.models.db.damaged-")));
  EXPECT_THAT(metrics_.expose(), HasSubstr("slackline_model_store_damaged{outcome=\"lost\"} 1"));
  EXPECT_TRUE(models->add_samples(a_calibration()));
}

TEST_F(ModelsTest, DamageThatTheMirrorMendsCostsNothing) {
  ASSERT_TRUE(open()->add_samples(a_calibration()));
  std::ofstream(path_, std::ios::binary) << std::string(8192, 'x');
  const auto models = open();
  EXPECT_EQ(models->known().get()->find("newnet")->types.front().samples, 15);
  EXPECT_THAT(*models->problem().get(), IsEmpty());
  EXPECT_THAT(metrics_.expose(),
              HasSubstr("slackline_model_store_damaged{outcome=\"restored\"} 1"));
}

TEST_F(ModelsTest, RowsThatCannotBeReadLeaveTheFitsInUse) {
  ASSERT_TRUE(open()->add_samples(a_calibration()));
  for (const std::string& path : {path_, path_ + ".mirror"}) {
    auto database = store::Database::open_reader(path, 1);
    ASSERT_TRUE(database);
    ASSERT_TRUE(database->execute("PRAGMA query_only=OFF; UPDATE samples SET layout = '?'"));
  }
  const auto models = open();
  EXPECT_THAT(*models->problem().get(), HasSubstr("samples of the model database"));
  EXPECT_NE(models->known().get()->profiles().find("newnet", kLearntType), nullptr);
}

TEST_F(ModelsTest, ARunIsLearntOnceHoweverOftenItIsTold) {
  {
    const auto models = open();
    for (int i = 0; i < 3; ++i)
      models->record_run(of_run("run-1", sample(64, "2x2", 100)));
  }
  const auto again = open();
  again->record_run(of_run("run-1", sample(64, "2x2", 100)));
  again->record_run(of_run("run-2", sample(64, "2x2", 120)));
  again->stop();
  again->join();
  EXPECT_EQ(again->known().get()->find("newnet")->types.front().samples, 2);
}

// A finished Job of a namespace that says it trained a model.
ThroughputSample run_in(const std::string& ns, int number, std::string model) {
  ThroughputSample run = sample(64, "2x2", 100);
  run.model = std::move(model);
  run.origin = SampleOrigin::kRun;
  run.ns = ns;
  run.run = Uid(ns + std::to_string(number));
  return run;
}

TEST_F(ModelsTest, ANamespaceBringsItsShareOfTheModelsAndNoMore) {
  path_ = kNoFile;
  const auto models = open();
  const int share = static_cast<int>(kMaxModelsOfNamespace);
  const auto is_known = [&](const std::string& model) {
    return models->known().get()->find(model) != nullptr;
  };
  ASSERT_TRUE(models->describe({"ours", "nets", {}, {}, "a test"}));
  for (int i = 0; i < share + 3; ++i)
    models->record_run(run_in("mallory", i, format("junk-{}", i)));
  models->record_run(run_in("mallory", share + 3, "junk-0"));
  models->record_run(run_in("mallory", share + 4, "ours"));
  models->record_run(run_in("team", 0, "theirs"));
  ASSERT_TRUE(test::eventually([&] { return is_known("theirs"); }));
  EXPECT_TRUE(is_known(format("junk-{}", share - 1)));
  EXPECT_FALSE(is_known(format("junk-{}", share)));
  EXPECT_EQ(models->known().get()->find("junk-0")->types.front().samples, 2) << "not a new one";
  EXPECT_EQ(models->known().get()->find("ours")->types.front().samples, 1) << "described";
  EXPECT_THAT(metrics_.expose(), HasSubstr("slackline_model_runs_refused_total 3"));

  EXPECT_TRUE(models->add_samples({sample(64, "1x1", 50)})) << "whoever may teach";
  ASSERT_TRUE(models->forget("junk-1"));
  models->record_run(run_in("mallory", share + 5, "junk-later"));
  EXPECT_TRUE(test::eventually([&] { return is_known("junk-later"); }));
}

TEST_F(ModelsTest, AProfileIsReplacedByMeasurementsAndOnlyCorrectedByRuns) {
  ProfileEntry entry;
  entry.model = "newnet";
  entry.gpu_type = kLearntType;
  entry.coefficients = {"S", {24, 0.42, -0.0002, 0.12, 1.4}};
  entry.points = 12;
  const auto models =
      Models::open({.path = path_}, WorkloadProfiles({entry}), metrics_, clock_).value();
  const auto type = [&] { return models->known().get()->find("newnet")->types.front(); };
  int number = 0;
  for (ThroughputSample run : a_calibration()) {
    run.throughput_samples_per_s *= 1.5;
    run.origin = SampleOrigin::kRun;
    run.ns = "team";
    run.run = Uid(std::to_string(++number));
    models->record_run(run);
  }
  ASSERT_TRUE(test::eventually([&] { return type().samples == 15; }));
  EXPECT_FALSE(type().fitted_here);
  EXPECT_EQ(type().entry->coefficients, entry.coefficients);
  EXPECT_EQ(type().entry->corrections.size(), 5U) << "at every placement";
  ASSERT_TRUE(models->add_samples(a_calibration()));
  EXPECT_TRUE(type().fitted_here);
  EXPECT_EQ(type().entry->points, 15) << "not the runs";
}

// Nodes say A100, the profile says A100-SXM-80GB.
TEST_F(ModelsTest, RunsReplaceNoProfileOfTheGpuUnderAnotherName) {
  ProfileEntry entry;
  entry.model = "newnet";
  entry.gpu_type = GpuType("A100-SXM-80GB");
  entry.coefficients = {"S", {24, 0.42, -0.0002, 0.12, 1.4}};
  entry.points = 12;
  const auto models =
      Models::open({.path = path_}, WorkloadProfiles({entry}), metrics_, clock_).value();
  const auto types = [&] { return models->known().get()->find("newnet")->types; };
  int number = 0;
  for (ThroughputSample run : a_calibration()) {
    run.gpu_type = GpuType("A100");
    run.origin = SampleOrigin::kRun;
    run.run = Uid(std::to_string(++number));
    models->record_run(run);
  }
  ASSERT_TRUE(test::eventually([&] { return types().front().samples == 15; }));
  ASSERT_EQ(types().size(), 2U);
  EXPECT_FALSE(types().front().fitted_here);
  EXPECT_EQ(types().front().entry->coefficients, entry.coefficients);
  EXPECT_EQ(types().front().entry->gpu_type, GpuType("A100"));
}

TEST_F(ModelsTest, WhatWasMeasuredAgainIsNoFurtherMeasurement) {
  const auto models = open();
  const auto teach = [&](std::vector<ThroughputSample> samples) {
    return models->add_samples(samples)->model.types.front();
  };
  const ModelTypeView once =
      teach({sample(64, "2x2", 100), sample(64, "2x2", 101), sample(64, "2x2", 102)});
  EXPECT_FALSE(once.entry);
  EXPECT_THAT(once.refusal, HasSubstr("1 of 3 different measurements"));
  EXPECT_FALSE(teach({sample(32, "2x2", 80)}).entry);
  EXPECT_TRUE(teach({sample(64, "2x4", 180)}).entry);
}

TEST_F(ModelsTest, AfterStopNothingIsTaken) {
  const auto models = open();
  models->stop();
  models->join();
  EXPECT_FALSE(models->add_samples(a_calibration()));
}

}  // namespace
}  // namespace slackline::control
