// Jobs of which calibration runs are made: the copy is a Job, suspended by Slackline, whatever the
// template says.
#include "fuzz/fuzz.h"
#include "slackline/model/pod.h"
#include "wire/kube/calibration_codec.h"
#include "wire/kube/kube_decode.h"

using namespace slackline;
using namespace slackline::fuzz;

namespace {

CalibrationOrder an_order() {
  auto intent = std::make_shared<TaskIntent>();
  intent->model = "net";
  intent->batch_size = 64;
  auto job = std::make_shared<Job>();
  job->key = {"ml", "train"};
  job->uid = Uid("u1");
  job->gpu_container = "main";
  job->intent = intent;
  auto original = std::make_shared<OriginalShape>();
  original->affinity_terms.emplace();
  job->original = original;
  return {.from = job,
          .name = "train-cal-1",
          .gpu_type = GpuType("A100"),
          .gpu_resource = "nvidia.com/gpu",
          .shape = {1, 2},
          .iterations = 100,
          .deadline_s = 300,
          .priority_class = ""};
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static wire::KubeDecoder decoder(default_gpu_catalog());
  static const CalibrationOrder kOrder = an_order();
  const auto run = wire::encode_calibration_job(text_of(data, size), kOrder);
  if (!run) return 0;
  require_json(*run, "a Job is made");
  const auto job = decoder.object(wire::KubeKind::kJob, *run);
  require(job.has_value(), "it is read");
  require(std::get<Job>(*job).is_calibration() && std::get<Job>(*job).waits_with_us(),
          "it begins suspended, as a calibration run");
  return 0;
}
