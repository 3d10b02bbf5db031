// Every format on a tiny file made by hand: what comes out is what its authors measured.
#include "wire/samples/sample_import.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "slackline/base/text.h"
#include "wire/samples/import_formats.h"

namespace slackline::wire {
namespace {

// "model gpu_type batch layout throughput"
std::vector<std::string> lines(const Result<SampleImport>& import) {
  if (!import) return {"error: " + import.error().message};
  std::vector<std::string> out;
  for (const ThroughputSample& s : import->samples)
    out.push_back(format("{} {} {} {} {:.6g}", s.model, s.gpu_type.str(), s.batch, s.layout.str(),
                         s.throughput_samples_per_s));
  return out;
}

using Lines = std::vector<std::string>;

TEST(SampleImport, KnowsItsFormatsByName) {
  const auto formats = sample_formats();
  EXPECT_TRUE(std::is_sorted(formats.begin(), formats.end(),
                             [](const auto& a, const auto& b) { return a.name < b.name; }));
  EXPECT_EQ(lines(import_samples("optimus", {"a.csv", ""})),
            Lines{"error: no sample format is named \"optimus\"; there are csv, elasticflow, "
                  "gavel, llm-foundry, mlperf, pollux, prometheus, torchtitan, zeus"});
}

TEST(SampleImport, ReadsOurOwnForm) {
  const SampleFile file{
      "s.csv",
      "model,gpu_type,batch,placement,throughput_samples_per_s\nm,A100,64,2x4,100\n"
      "n,T4,8,1x1,5\n"};
  EXPECT_EQ(lines(import_samples("csv", file)), (Lines{"m A100 64 2x4 100", "n T4 8 1x1 5"}));
  EXPECT_EQ(
      lines(import_samples("csv", file, {"other", ""})),
      Lines{"error: s.csv: holds no samples of other on any GPU type; it has m on A100, n on T4"});
  EXPECT_EQ(lines(import_samples("csv", file, {"n", "T4"})), Lines{"n T4 8 1x1 5"});
}

TEST(SampleImport, LeavesOutARowWhoseReplicasAreMoreThanItsBatch) {
  const auto import = import_samples(
      "csv", {"s.csv",
              "model,gpu_type,batch,placement,throughput_samples_per_s,model_parallel\n"
              "m,H100,8,2x8,100,1\nm,H100,8,2x8,100,2\n"});
  EXPECT_EQ(lines(import), Lines{"m H100 8 2x8 100"});
  ASSERT_EQ(import->left_out.size(), 1U);
  EXPECT_TRUE(import->left_out[0].starts_with("1 row: ")) << import->left_out[0];
}

TEST(SampleImport, LlmFoundryIsATableInMarkdown) {
  const auto import = import_samples(
      "llm-foundry",
      {"README.md",
       "# Benchmarks\n"
       "|  Model | SeqLen (T) | # GPUs | GPU | GlobalBatchSize | Throughput (T/s) | Precision |\n"
       "| --- | --- | --- | --- | --- | --- | --- |\n"
       "| 7b | 2048 | 128 | h100_80gb | 768 | 1,340,829 | bf16 |\n"
       "| 3b | 2048 | 8 | h100_80gb | 480 | 244692 | amp_fp8 |\n"
       "| 3b | 2048 | 12 | a100_40gb | 480 | 244692 | bf16 |\n"});
  EXPECT_EQ(lines(import),
            (Lines{"mpt-7b-2048 H100 768 16x8 654.702", "mpt-3b-2048-fp8 H100 480 1x8 119.479"}));
  EXPECT_EQ(import->left_out, Lines{"1 row: its GPUs are not 1 to 8, or a multiple of 8"});
}

TEST(SampleImport, TorchtitanGivesTokensOfEachGpu) {
  const SampleFile file{"t.csv", "gpus,global_batch_size,seq_len,TPS/GPU\n8,16,8192,6667\n"};
  EXPECT_EQ(lines(import_samples("torchtitan", file, {"llama3.1-8b", "H100"})),
            Lines{"llama3.1-8b H100 16 1x8 6.51074"});
  EXPECT_NE(lines(import_samples("torchtitan", file))[0].find("--model"), std::string::npos);
}

TEST(SampleImport, MlperfIsALogWithItsSystemBeside) {
  const char* system =
      R"({"number_of_nodes": "2", "accelerators_per_node": 8,
          "accelerator_model_name": "NVIDIA H100-SXM5-80GB"})";
  const std::string log =
      R"(0: :::MLLOG {"key": "submission_benchmark", "value": "resnet"})"
      "\nanything else\n"
      R"(:::MLLOG {"key": "global_batch_size", "value": 3200})"
      "\n"
      R"(:::MLLOG {"key": "tracked_stats", "value": {"throughput": 100350.5}})"
      "\n"
      R"(:::MLLOG {"key": "run_stop", "value": null, "metadata": {"status": "success"}})";
  EXPECT_EQ(lines(import_samples("mlperf", {"result_0.txt", log, system})),
            Lines{"resnet H100 3200 2x8 100350"});
  EXPECT_NE(lines(import_samples("mlperf", {"result_0.txt", log}))[0].find("is not there"),
            std::string::npos);
  EXPECT_NE(lines(import_samples("mlperf", {"r", ":::MLLOG {}", system}))[0].find("success"),
            std::string::npos);
}

TEST(SampleImport, PrometheusGivesTheMedianOfEachSeries) {
  const std::string answer =
      R"({"status":"success","data":{"resultType":"matrix","result":[
        {"metric":{"model":"lora","gpu_type":"H100","batch":"8","placement":"1x8",
                   "tokens_per_sample":"1000"},
         "values":[[1,"0"],[2,"2000"],[3,"2100"],[4,"9000"]]},
        {"metric":{"model":"lora","gpu_type":"H100","placement":"1x8"},"values":[[1,"5"]]}]}})";
  const auto import = import_samples("prometheus", {"range.json", answer});
  EXPECT_EQ(lines(import), Lines{"lora H100 8 1x8 2.1"});
  EXPECT_EQ(import->left_out, Lines{"1 row: no label batch, the global batch"});
}

TEST(SampleImport, PolluxTellsTheGpusOfEachNodeAndTheBatchOfOneGpu) {
  const auto placements = import_samples("pollux", {"x/imagenet/placements.csv",
                                                    "placement,local_bsz,step_time,sync_time\n"
                                                    "1,20,0.5,0.1\n"
                                                    "1242,10,2,0.1\n"
                                                    "44,10,0.25,0.1\n"});
  EXPECT_EQ(lines(placements), (Lines{"resnet50 T4 20 1x1 40", "resnet50 T4 90 4+2+2+1 45",
                                      "resnet50 T4 80 2x4 320"}));
  const auto scalability = import_samples(
      "pollux", {"bert/scalability.csv",
                 "num_nodes,num_replicas,local_bsz,step_time,sync_time\n3,7,10,0.5,0.1\n"});
  EXPECT_EQ(lines(scalability), Lines{"bert T4 70 3+2+2 140"}) << "spread as evenly as they can";
}

TEST(SampleImport, PolluxNamesTheLineAndNeedsAModel) {
  const std::string_view text = "placement,local_bsz,step_time\n1,8,0.5\n104,8,0.5\n1,8,-1\n";
  EXPECT_EQ(lines(import_samples("pollux", {"a/b.csv", text})),
            Lines{"error: a/b.csv: 2 values are wrong, so nothing was read:\n"
                  "  line 3: placement: \"104\" must be one digit per node, its GPUs\n"
                  "  line 4: step_time: \"-1\" must be a number above 0"});
  EXPECT_NE(lines(import_samples("pollux", {"b.csv", text}))[0].find("folder"), std::string::npos);
  EXPECT_EQ(lines(import_samples("pollux", {"b.csv", text.substr(0, 38)}, {"m", "A10"})),
            Lines{"m A10 8 1x1 16"});
}

TEST(SampleImport, GavelSumsStepsOfWorkersWithTheNamedBatchEach) {
  const auto import = import_samples("gavel", {"t.json", R"json({
    "k80": {"('ResNet-50 (batch size 64)', 1)": {"null": 0.5},
            "('ResNet-50 (batch size 64)', 4)": {"null": 1.5, "('LM (batch size 5)', 1)": [1, 2]},
            "('LM (batch size 5)', 8)": {"null": 0.0},
            "('A3C', 1)": {"null": 3.4}},
    "k80_unconsolidated": {"('ResNet-50 (batch size 64)', 1)": {"null": 0.5},
                           "('Transformer (batch size 16)', 2)": {"null": 2}}})json"});
  EXPECT_EQ(lines(import),
            (Lines{"resnet50 K80 64 1x1 32", "resnet50 K80 256 1x4 96", "seq2seq K80 32 2x1 32"}));
  EXPECT_EQ(import->left_out, (Lines{"1 row: 0 steps/s, so it did not run",
                                     "1 row: of A3C, whose batch is not told"}));
}

TEST(SampleImport, GavelNamesTheTableAndTheJob) {
  const auto error = [](const char* json) {
    return lines(import_samples("gavel", {"t.json", json}))[0];
  };
  EXPECT_EQ(error(R"json({"k80": {"ResNet": {"null": 1}}})json"),
            "error: t.json: k80: ResNet: is not a job like \"('ResNet-50 (batch size 64)', 2)\"");
  EXPECT_EQ(error(R"json({"k80": {"('M (batch size 1)', 1)": {"null": "fast"}}})json"),
            "error: t.json: k80: ('M (batch size 1)', 1): \"null\" must be the steps/s of the job "
            "alone");
  EXPECT_EQ(error("[]"), "error: t.json: must be an object of GPU types, each an object of jobs");
  EXPECT_NE(error("{").find("t.json: "), std::string::npos);
  EXPECT_EQ(error(R"json({"k80": {"('A3C', 1)": {"null": 3}}})json"),
            "error: t.json: holds no samples that gavel can be read as; left out: 1 row: of A3C, "
            "whose batch is not told");
}

TEST(SampleImport, ElasticFlowTellsIterationsByGlobalBatchAndGpus) {
  const auto import = import_samples(
      "elasticflow",
      {"throughputs_A100/vgg16.csv", "global_batch_size,1,8,16,32\n16,2,10,20,21\n64,1,0,,5\n"});
  EXPECT_EQ(lines(import),
            (Lines{"vgg16 A100 16 1x1 32", "vgg16 A100 16 1x8 160", "vgg16 A100 16 2x8 320",
                   "vgg16 A100 64 1x1 64", "vgg16 A100 64 4x8 320"}));
  EXPECT_EQ(import->left_out, (Lines{"1 row: more GPUs than samples in the batch",
                                     "2 rows: no rate, so it did not run"}));
  EXPECT_EQ(lines(import_samples("elasticflow", {"m.csv", "global_batch_size,12\n16,2\n"})),
            Lines{"error: m.csv: line 1: column \"12\" must be a number of GPUs: 1 to 8, or whole "
                  "servers of 8"});
}

TEST(SampleImport, ZeusTellsSecondsPerEpochAtSeveralPowerLimits) {
  const auto import =
      import_samples("zeus", {"d/summary_power_v100.csv",
                              "dataset,network,batch_size,optimizer,power_limit,time_per_epoch\n"
                              "cifar100,shufflenetv2,1024,adam,100,20\n"
                              "cifar100,shufflenetv2,1024,adam,250,10\n"
                              "squad,bert,8,adamw,250,100\n"});
  EXPECT_EQ(lines(import), Lines{"shufflenetv2 V100 1024 1x1 5000"});
  EXPECT_EQ(import->left_out, (Lines{"1 row: below the full power limit of 250 W",
                                     "1 row: of squad, whose samples per epoch are not known"}));
}

TEST(SampleImport, RefusesAThroughputOutOfRange) {
  EXPECT_EQ(lines(import_samples("pollux",
                                 {"m/p.csv", "placement,local_bsz,step_time\n1,999999,1e-307\n"})),
            Lines{"error: m/p.csv: m on 1x1 at batch 999999: the throughput is out of range"});
}

TEST(SampleImport, TakesNamesFromPaths) {
  EXPECT_EQ(stem_of("a/b.c/d.e.csv"), "d.e");
  EXPECT_EQ(folder_of("a/b.c/d.csv"), "b.c");
  EXPECT_EQ(folder_of("d.csv"), "");
}

}  // namespace
}  // namespace slackline::wire
