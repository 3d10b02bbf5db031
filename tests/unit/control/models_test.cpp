// Fitting heaps of samples, and forecasting shapes from what was fitted.
#include <fstream>

#include <gtest/gtest.h>

#include "control/learn/fit_models.h"
#include "control/learn/profiles.h"
#include "control/query/shape_forecast.h"
#include "support/temporary_folder.h"

namespace slackline::control {
namespace {

// A machine that spends 10 ms on a step, 1 ms on a sample, and 2 ms on each GPU beyond the first.
double measured(double batch, Placement shape) {
  const double m = shape.gpus();
  return batch / (0.010 + 0.001 * batch / m + 0.002 * (m - 1));
}

std::vector<ThroughputSample> samples_of(const std::string& model, const char* gpu_type) {
  std::vector<ThroughputSample> samples;
  for (const Placement shape :
       {Placement{1, 1}, Placement{1, 2}, Placement{1, 4}, Placement{2, 4}, Placement{4, 4}})
    for (const double batch : {32.0, 64.0, 128.0, 256.0})
      samples.push_back({model, GpuType(gpu_type), batch, Layout(shape), measured(batch, shape),
                         model + " bench", SampleOrigin::kImport});
  return samples;
}

TEST(FitModels, FitsEachModelOnEachGpuTypeAlone) {
  std::vector<ThroughputSample> samples = samples_of("b", "T4");
  for (const auto& [model, type] : {std::pair{"a", "T4"}, std::pair{"a", "A100"}})
    for (const ThroughputSample& sample : samples_of(model, type))
      samples.push_back(sample);
  std::vector<std::string> seen;
  const auto models =
      fit_models(samples, {}, [&seen](const FittedModel& model, std::size_t at, std::size_t count) {
        seen.push_back(model.model + " " + model.gpu_type.str() + " " + std::to_string(at) + "/" +
                       std::to_string(count));
      });
  EXPECT_EQ(seen, (std::vector<std::string>{"a A100 0/3", "a T4 1/3", "b T4 2/3"}));
  ASSERT_EQ(models.size(), 3U);
  for (const FittedModel& model : models) {
    ASSERT_TRUE(model.held_out) << model.problem;
    EXPECT_EQ(model.samples.size(), 20U);
    EXPECT_LT(model.held_out->error.mean, 8) << model.model << ": the machine is an easy one";
    EXPECT_EQ(compare(model).size(), 20U) << "every sample is held out once";
    const ProfileEntry entry = profile_entry_of(model, 12);
    EXPECT_EQ(entry.source, model.model + " bench");
    EXPECT_EQ(entry.startup_s, 12);
    EXPECT_EQ(entry.held_out_mape.has_value(), true);
  }
}

TEST(FitModels, KeepsAFitThatNothingCanBeHeldOutOf) {
  std::vector<ThroughputSample> samples;
  for (const ThroughputSample& sample : samples_of("a", "T4"))
    if (sample.layout.spread().gpus > 1 && samples.empty()) samples.push_back(sample);
  const auto models = fit_models(samples, {});
  ASSERT_EQ(models.size(), 1U);
  EXPECT_TRUE(models[0].fit);
  EXPECT_FALSE(models[0].held_out);
  EXPECT_NE(models[0].problem, "");
  EXPECT_EQ(compare(models[0]).size(), 1U) << "then the fit is compared with its own samples";
  EXPECT_EQ(profile_entry_of(models[0], 0).held_out_mape, std::nullopt);
}

TEST(FitModels, SaysWhyNothingCouldBeFitted) {
  const auto models = fit_models({samples_of("a", "T4").back()}, {{"P2"}, std::nullopt});
  ASSERT_EQ(models.size(), 1U);
  EXPECT_FALSE(models[0].fit);
  EXPECT_NE(models[0].problem, "");
  EXPECT_TRUE(compare(models[0]).empty());
}

class Forecast : public ::testing::Test {
 protected:
  static core::Predictor predictor() {
    const auto models = fit_models(samples_of("a", "T4"), {});
    return core::Predictor(WorkloadProfiles({profile_entry_of(models[0], 30)}));
  }
  const WorkloadQuestion question_{"a", 128, GpuType("T4"), 1000};
};

TEST_F(Forecast, RanksTheShapesOfAPlatformByWhatAGpuBuys) {
  const core::Pool platform{GpuType("T4"), "", 4, 4, 1.0};
  const auto rows = forecast_shapes(predictor(), question_, platform, core::kDefaultTheta);
  ASSERT_EQ(rows.size(), 9U) << "those whose GPUs divide 128";
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const LayoutForecast& forecast = rows[i].forecast;
    EXPECT_LE(rows[i].cer, rows[i > 0 ? i - 1 : 0].cer);
    EXPECT_LE(forecast.speed.low, forecast.speed.throughput_samples_per_s);
    EXPECT_GE(forecast.speed.high, forecast.speed.throughput_samples_per_s);
    EXPECT_DOUBLE_EQ(*forecast.lat_s, 128 * 1000 / forecast.speed.throughput_samples_per_s + 30);
  }
}

TEST_F(Forecast, CountsTheStartUpOfTheGpuUnderAnotherName) {
  ProfileEntry entry = predictor().profiles().entries().front();
  entry.gpu_type = GpuType("A100-SXM-80GB");
  const core::Predictor known(WorkloadProfiles({entry}));
  WorkloadQuestion question = question_;
  question.gpu_type = GpuType("A100");
  const auto forecast = forecast_layout(known, question, Layout());
  ASSERT_TRUE(forecast);
  EXPECT_DOUBLE_EQ(*forecast->lat_s,
                   128 * 1000 / forecast->speed.throughput_samples_per_s + entry.startup_s);
}

TEST_F(Forecast, LeavesOutShapesThatDoNotDivideTheBatch) {
  WorkloadQuestion small = question_;
  small.batch = 3;
  const core::Pool platform{GpuType("T4"), "", 1, 8, 1.0};
  EXPECT_EQ(forecast_shapes(predictor(), small, platform, 1).size(), 2U) << "1 and 3 GPUs";
}

TEST_F(Forecast, SaysWhatIsMissing) {
  const core::Predictor known = predictor();
  const auto why = [&known](const WorkloadQuestion& question, const Layout& layout) {
    EXPECT_FALSE(forecast_layout(known, question, layout));
    return why_no_forecast(known, question, layout).message;
  };
  EXPECT_EQ(why({"b", 8, GpuType("T4"), {}}, Layout()), "the profile has no model b; it has a");
  EXPECT_NE(why({"a", 8, GpuType("A100"), {}}, Layout()).find("has a on T4"), std::string::npos);
  EXPECT_NE(why({"a", 8, GpuType("T4"), {}}, Layout(Placement{4, 4})).find("16 GPUs of 4x4"),
            std::string::npos);
}

// Such an entry was passed over in silence, and another model of the family answered for it.
TEST(Profiles, AnEntryThatCannotBeUsedIsRefusedByFileAndName) {
  const test::TemporaryFolder folder;
  const auto refusal = [&](const std::string& coefficients) {
    std::ofstream(folder.file("p.yaml"))
        << "apiVersion: config.slackline.dev/v1alpha1\nkind: WorkloadProfile\nentries:\n"
        << "- {model: net, gpuType: T4, coefficients: " << coefficients << "}\n";
    const auto profiles = load_profiles({folder.file("p.yaml")});
    return profiles ? "taken" : profiles.error().message;
  };
  EXPECT_EQ(refusal("{kind: S, params: [24, 0.42, -0.0021, 0.12, 1.4]}"), "taken");
  EXPECT_EQ(
      refusal("{kind: Z, params: [1]}"),
      folder.file("p.yaml") +
          ": the entry of net on T4: coefficients: \"Z\" is not a kind of model; allowed: A, H, "
          "L, P, P2, S, S/mean, W, linear, table");
  EXPECT_NE(refusal("{kind: S, params: [1]}").find("the 1 params are not what kind S takes"),
            std::string::npos);
}

}  // namespace
}  // namespace slackline::control
