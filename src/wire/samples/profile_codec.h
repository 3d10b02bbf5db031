// WorkloadProfile files: throughput coefficients by model and GPU type, JSON or YAML.
//
//   apiVersion: config.slackline.dev/v1alpha1
//   kind: WorkloadProfile
//   entries: [{model, gpuType, coefficients: {kind, params}, startup_s, points, held_out_mape,
//     held_out_p90, batch_range, gpus_range, nodes_range, model_parallel,
//     model_parallel_derived, family, corrections: [{nodes, gpus,
//     ratio, runs}], source}]
//
// Ranges are [smallest, largest]. Only model, gpuType and coefficients are required.
//
// The decoder also reads the import form of one GPU type, {"kind": "seed", "comm": "sum", "types":
// {model: {k: [k0, k1, k2], gamma, lam, batch, iters}}}, as kind "S" with params [k0, k1, k2,
// gamma, lambda]; `batch` and `iters` describe traces and are not kept.
//
// An unknown key or a wrong value is kInvalidArgument: file, line, path, and what is allowed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "slackline/base/result.h"
#include "slackline/model/workload.h"

namespace slackline::wire {

// The GPU type of an import form is `gpu_type`, or where that is empty what follows the last '_' of
// the file's name: "profile_k80.json" is K80.
Result<std::vector<ProfileEntry>> read_profile(std::string_view text, const std::string& file,
                                               const GpuType& gpu_type = GpuType{});

// A WorkloadProfile as JSON, one entry a line; read_profile() gives the same entries back.
std::string write_profile(const std::vector<ProfileEntry>& entries);

}  // namespace slackline::wire
