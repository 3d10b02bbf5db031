// Decodes samples and descriptions of models that are sent over REST (rows.h shows models).
//
// A body with something wrong is refused whole: kInvalidArgument names every wrong field with its
// path ("samples[3].batch"), at most 20 of them. Unknown keys and keys given twice are wrong.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "slackline/base/result.h"
#include "slackline/model/model_record.h"
#include "slackline/model/sample.h"

namespace slackline::wire {

inline constexpr std::size_t kMaxPostedSamples = 5000;

// 1 to 253 bytes without control characters, that a path can have as one or more segments:
// "resnet50", "meta-llama/Llama-3.1-8B".
Status check_model_name(std::string_view model);

// {"samples": [{"gpuType", "batch", "placement", "throughputSamplesPerS", "modelParallel"?,
// "source"?, "origin"?, "run"?, "namespace"?}]}
Result<std::vector<ThroughputSample>> read_posted_samples(std::string_view json,
                                                          const std::string& model);
// The same as a list of them is answered (rows.h): "items" in place of "samples", of any number.
Result<std::vector<ThroughputSample>> read_listed_samples(std::string_view json,
                                                          const std::string& model);
// The format of samples_csv.h; every row must be of `model`.
Result<std::vector<ThroughputSample>> read_posted_csv(std::string_view text,
                                                      const std::string& model);
// {"family"?, "parameters"?, "flopsPerSample"?, "description"?}
Result<ModelDescriptor> read_posted_descriptor(std::string_view json, const std::string& model);

// Of a model in a list of them: what people said of it, and whether there are samples.
struct ListedModel {
  ModelDescriptor descriptor;
  bool has_samples = false;
};
Result<std::vector<ListedModel>> read_listed_models(std::string_view json);

}  // namespace slackline::wire
