// Throughput samples as CSV, one measurement a row:
//
//   model,gpu_type,batch,placement,throughput_samples_per_s,source
//   resnet50,A100,256,2x4,5120.5,nightly run 17
//   bert,A100,64,4+2+1,610,
//
// `batch` is the global batch, `placement` nodes x GPUs per node or the GPUs of each node. These
// may be missing: `source`; `model_parallel`, the GPUs that share one copy of the model (where
// empty it is derived, core/throughput/model_parallel.h). `throughput_tokens_per_s` and
// `tokens_per_sample` may stand instead of throughput_samples_per_s. Columns may be in any order;
// those with other names are ignored. If a value is wrong nothing is read, and the error lists all
// wrong values with line and field.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "slackline/base/result.h"
#include "slackline/model/sample.h"
#include "wire/format/csv.h"

namespace slackline::wire {

// The accepted range of a measurement: far beyond any machine, but sums stay finite.
inline constexpr NumberRange kBatches{1, 1e9};
inline constexpr NumberRange kThroughputs{1e-6, 1e12};

// Queries to a model look like samples whose throughput, 0, is unknown.
enum class SampleRows { kMeasured, kQuestions };

// Whether the sample states more replicas of the model than its batch has samples.
bool has_too_many_replicas(const ThroughputSample& sample);

// One sample per row, in the order of the rows.
Result<std::vector<ThroughputSample>> read_samples(const CsvTable& table, SampleRows rows);

// The same from the text of a file; the error begins with its name.
Result<std::vector<ThroughputSample>> read_samples_csv(std::string_view text,
                                                       const std::string& file);

// read_samples_csv() gives the same samples back, except for their origin.
std::string write_samples_csv(const std::vector<ThroughputSample>& samples);

}  // namespace slackline::wire
