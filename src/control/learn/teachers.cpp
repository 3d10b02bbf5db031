#include "control/learn/teachers.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "slackline/core/throughput/correction.h"
#include "slackline/core/throughput/throughput.h"

namespace slackline::control {
namespace {

using Shape = std::tuple<int, int, double>;  // nodes, GPUs, batch

Shape shape_of(const ThroughputSample& sample) {
  const Spread spread = sample.layout.spread();
  return {spread.nodes, spread.gpus, sample.batch};
}

// What runs of one namespace in one shape took, and how many they are.
struct Told {
  double logs = 0;
  int runs = 0;
};

// The one in the middle, or the two.
std::set<std::string> in_the_middle(const std::map<std::string, Told>& by_namespace) {
  std::vector<std::pair<double, std::string>> speeds;
  for (const auto& [ns, told] : by_namespace)
    speeds.emplace_back(told.logs / told.runs, ns);
  std::sort(speeds.begin(), speeds.end());
  return {speeds[(speeds.size() - 1) / 2].second, speeds[speeds.size() / 2].second};
}

}  // namespace

std::vector<ThroughputSample> measured_samples(const std::vector<ThroughputSample>& samples) {
  std::vector<ThroughputSample> measured;
  std::copy_if(samples.begin(), samples.end(), std::back_inserter(measured),
               [](const auto& sample) { return sample.origin != SampleOrigin::kRun; });
  return measured;
}

std::vector<ThroughputSample> samples_with_runs(const std::vector<ThroughputSample>& samples) {
  std::map<Shape, std::map<std::string, Told>> told;
  for (const ThroughputSample& sample : samples) {
    if (sample.origin != SampleOrigin::kRun) continue;
    Told& by = told[shape_of(sample)][sample.ns];
    by.logs += std::log(sample.throughput_samples_per_s);
    ++by.runs;
  }
  std::map<Shape, std::set<std::string>> believed;
  for (const auto& [shape, by_namespace] : told)
    believed.emplace(shape, in_the_middle(by_namespace));
  std::vector<ThroughputSample> counted;
  std::copy_if(samples.begin(), samples.end(), std::back_inserter(counted),
               [&](const ThroughputSample& sample) {
                 return sample.origin != SampleOrigin::kRun ||
                        believed.at(shape_of(sample)).contains(sample.ns);
               });
  return counted;
}

ProfileEntry corrected_by_runs(ProfileEntry entry, const std::vector<ThroughputSample>& samples) {
  std::map<std::string, std::vector<Correction>> learnt;
  learnt[""] = std::move(entry.corrections);
  for (const ThroughputSample& sample : samples) {
    if (sample.origin != SampleOrigin::kRun) continue;
    const Spread spread = sample.layout.spread();
    const auto predicted =
        core::predict_throughput(entry.coefficients, sample.batch, spread, entry.model_parallel);
    if (predicted)
      core::learn_correction(learnt[sample.ns], spread,
                             sample.throughput_samples_per_s / *predicted);
  }
  std::vector<std::vector<Correction>> by_namespace;
  for (auto& [ns, corrections] : learnt)
    by_namespace.push_back(std::move(corrections));
  entry.corrections = core::middle_corrections(by_namespace);
  return entry;
}

}  // namespace slackline::control
