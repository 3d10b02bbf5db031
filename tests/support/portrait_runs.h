// Runs of a family for tests of portraits: an hour on four A100, all measured.
#pragma once

#include <string>

#include "slackline/model/portrait.h"

namespace slackline::test {

inline constexpr double kRun_s = 3600;

struct Used {
  double gpu = 0.5;         // mean share
  double gpu_memory = 0.2;  // highest share
  double cpu = 2;           // mean cores
  double cpu_max = 3;
  double memory = 4e9;  // peak
};

// `number` names the run and orders it in time, one a day.
inline PortraitRun a_run(int number, const Used& used = {}) {
  PortraitRun run;
  run.finished_s = 86400.0 * (1000 + number);
  run.run_s = kRun_s;
  run.wait_s = 60;
  run.gpu_type = GpuType("A100");
  run.shape = {1, 4};
  run.asked = {1, 4};
  run.requests = {8000, 16000, 64'000'000'000};
  run.image_digest = "sha256:1";
  run.usage.task = {"lab", "train"};
  run.usage.run = Uid("run-" + std::to_string(number));
  run.usage.from_s = run.finished_s - kRun_s;
  run.usage.to_s = run.finished_s;
  run.usage.cpu_cores = Usage{used.cpu, used.cpu_max, kRun_s};
  run.usage.memory_bytes = Usage{used.memory / 2, used.memory, kRun_s};
  run.usage.gpu_share = Usage{used.gpu, 1, kRun_s};
  run.usage.gpu_memory_share = Usage{used.gpu_memory / 2, used.gpu_memory, kRun_s};
  run.usage.gpus = UsageQuality::kMeasured;
  return run;
}

}  // namespace slackline::test
