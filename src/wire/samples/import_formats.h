// The public data sets of throughput, each read as its authors publish it. Used by
// wire/samples/sample_import.h; the comments say what each reader assumes.
//
// A model has Slackline's name if it is the same network (Gavel's LM is Slackline's lstm), else the
// data set's.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "wire/samples/sample_import.h"

namespace slackline::wire {

// Slackline's own form, wire/samples/samples_csv.h.
Result<SampleImport> import_csv(const SampleFile& file, const SampleNames& names);

// ElasticFlow (ASPLOS'23), throughputs_A100/MODEL.csv: iterations per second by global batch (rows)
// and GPUs (columns). Assumed: up to 8 GPUs are one server, more are whole servers of 8; the GPU is
// an A100. Empty and 0 did not run.
Result<SampleImport> import_elasticflow(const SampleFile& file, const SampleNames& names);

// Gavel (OSDI'20), *_throughputs.json: {"k80": {"('ResNet-50 (batch size 64)', 2)": {"null":
// steps/s of the job alone, summed over its workers}}}. The batch is one worker's (weak scaling):
// samples/s = steps/s x batch, global batch = batch x workers. Assumed: the workers of a table lie
// in one server, those of "k80_unconsolidated" in a server each. Jobs without a batch in their name
// are left out, as are 0 (did not run) and the measurements of two jobs on one GPU.
Result<SampleImport> import_gavel(const SampleFile& file, const SampleNames& names);

// Pollux (OSDI'21), MODEL/placements.csv and MODEL/scalability.csv: seconds per step by the batch
// of one GPU. A placement has one digit per node, its GPUs; scalability has nodes and GPUs, which
// are assumed to be spread as evenly as possible. The model is the folder's; the GPU is a T4.
Result<SampleImport> import_pollux(const SampleFile& file, const SampleNames& names);

// Zeus (NSDI'23), summary_power_GPU.csv: seconds per epoch on one GPU by network, batch and power
// limit. Only the highest power limit of the file counts. Samples/s needs the samples of an epoch:
// known for CIFAR-100 (50,000) and ImageNet (1,281,167), other data sets are left out. The GPU type
// is the file name's.
Result<SampleImport> import_zeus(const SampleFile& file, const SampleNames& names);

// llm-foundry (mosaicml), the table of its training benchmarks, as Markdown or CSV.
// Tokens per second over sequence length; a table without them has samples per second. The table
// gives a GPU count only: assumed are 8 GPUs on a node. The model is mpt-SIZE-LENGTH, "-fp8" where
// stated.
Result<SampleImport> import_llm_foundry(const SampleFile& file, const SampleNames& names);

// torchtitan (pytorch): its benchmarks' tables of tokens per second and GPU, as Markdown or CSV. A
// table lacks what its caption says: columns model, gpus, gpu, global_batch_size and seq_len have
// to be there; model and GPU type may be given by name. Assumed: 8 GPUs on a node.
Result<SampleImport> import_torchtitan(const SampleFile& file, const SampleNames& names);

// MLPerf training, SUBMITTER/results/SYSTEM/BENCHMARK/result_N.txt, lines of ":::MLLOG {JSON}": the
// median of the logged throughput of a run that ended in success, at the logged global batch.
// `beside` is SUBMITTER/systems/SYSTEM.json: the accelerator, nodes and accelerators per node. The
// figures are derived from logs: MLCommons has not verified them, and they are not MLPerf results.
Result<SampleImport> import_mlperf(const SampleFile& file, const SampleNames& names);

// A Prometheus' answer to /api/v1/query_range: each series is one sample, the median of its
// positive values. The labels model, gpu_type, batch and placement say what was measured;
// model_parallel may. Where a series has the label tokens_per_sample, its values are tokens per
// second.
Result<SampleImport> import_prometheus(const SampleFile& file, const SampleNames& names);

// "a/imagenet/placements.csv": "placements", and "imagenet"; empty where the path has none.
std::string stem_of(std::string_view path);
std::string folder_of(std::string_view path);

// Skipped rows, counted by reason.
class LeftOut {
 public:
  void add(std::string reason) { ++rows_[std::move(reason)]; }
  std::vector<std::string> list() const;  // "12 rows: REASON", by reason

 private:
  std::map<std::string, int> rows_;
};

}  // namespace slackline::wire
