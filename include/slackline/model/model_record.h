// The data of the model database besides samples: descriptions of models, and fits with their
// history.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "slackline/model/workload.h"

namespace slackline {

// The description of a model, for people and to find similar models.
struct ModelDescriptor {
  std::string model;
  std::string family;  // models that run alike ("resnet"); empty = its own
  std::optional<double> parameters;
  std::optional<double> flops_per_sample;
  std::string description;
  friend bool operator==(const ModelDescriptor&, const ModelDescriptor&) = default;
};

// Coefficients fitted by this daemon, their error within the entry.
struct FitRecord {
  ProfileEntry entry;
  std::int64_t version = 0;  // of this (model, GPU type), counted from 1
  double fitted_s = 0;       // epoch seconds
};

}  // namespace slackline
