// Known: what the daemon knows about the speed of models at one moment.
//
// Profiles that were shipped are the base. A fit made here replaces one only where it has earned
// it, by a held-out error, or where there is none; otherwise the shipped coefficients stay and
// finished runs correct them (core/throughput/correction.h). Runs say how long a task took from end
// to end, calibrations and imports how fast it trained: only the latter count as measured where a
// model has coefficients.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "message/model_views.h"
#include "slackline/base/published.h"
#include "slackline/model/sample.h"

namespace slackline::core {
class Predictor;
}

namespace slackline::control {

// Immutable.
struct Known {
  std::shared_ptr<const core::Predictor> predictor;  // never null
  std::vector<ModelView> models;                     // by name
  std::string fingerprint;    // names all coefficients, corrections and measurements; journalled
  std::uint64_t version = 0;  // grows by one with every change

  const WorkloadProfiles& profiles() const;
  const ModelView* find(std::string_view model) const;  // nullptr where nothing is known about it
};
using KnownPtr = std::shared_ptr<const Known>;

// What was learnt here about one model on one GPU type.
struct LearntPair {
  std::vector<ThroughputSample> samples;
  std::optional<FitRecord> fit;
  std::string refusal;  // why the last fit was refused; empty = it was not
};

struct Learnt {
  std::map<std::pair<std::string, GpuType>, LearntPair> pairs;
  std::map<std::string, ModelDescriptor> descriptors;
};

// Pure.
Known make_known(const WorkloadProfiles& base, const Learnt& learnt = {},
                 std::uint64_t version = 0);

}  // namespace slackline::control
