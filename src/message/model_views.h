// The throughput models over REST, as plain values (as in views.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "slackline/model/model_record.h"

namespace slackline {

// One model on one GPU type.
struct ModelTypeView {
  GpuType gpu_type;
  // The coefficients in use; empty: none, there are only samples.
  std::optional<ProfileEntry> entry;
  bool fitted_here = false;  // else they were shipped with the daemon or named by its `profiles`
  std::int64_t version = 0;  // of the last fit made here, counted from 1; 0 = none
  double fitted_s = 0;       // when, epoch seconds
  std::int64_t samples = 0;  // kept here, of any origin
  std::int64_t runs = 0;     // of these, finished runs
  std::string refusal;       // why the last fit was refused; empty = it was not
};

// GET /v1/models/{model}
struct ModelView {
  ModelDescriptor descriptor;        // empty except for the name if nobody described it
  std::vector<ModelTypeView> types;  // by GPU type
};

// POST /v1/models/{model}/samples
struct SamplesAccepted {
  std::int64_t accepted = 0;
  ModelView model;  // the touched GPU types only
};

}  // namespace slackline
