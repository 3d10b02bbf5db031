// Lists and single objects; the first byte chooses the kind. Amounts never leave their range.
#include "fuzz/fuzz.h"
#include "wire/kube/kube_decode.h"

using namespace slackline;
using namespace slackline::fuzz;

namespace {

void check(const Resources& amounts) {
  constexpr std::int64_t kMost = std::int64_t{1} << 50;
  require(amounts.cpu_milli >= 0 && amounts.cpu_milli <= kMost, "cpu in range");
  require(amounts.memory_bytes >= 0 && amounts.memory_bytes <= kMost, "memory in range");
  for (const ResourceAmount& gpu : amounts.gpus)
    require(gpu.count >= 0 && gpu.count <= kMost, "GPUs in range");
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static wire::KubeDecoder decoder(default_gpu_catalog());
  if (size == 0) return 0;
  const auto list =
      decoder.list(static_cast<wire::KubeKind>(data[0] % 5), text_of(data + 1, size - 1));
  if (!list) return 0;
  for (const wire::KubeObject& object : list->items) {
    if (const auto* pod = std::get_if<Pod>(&object)) check(pod->requests);
    if (const auto* node = std::get_if<Node>(&object)) check(node->allocatable);
    if (const auto* job = std::get_if<Job>(&object)) check(job->pod_requests);
  }
  return 0;
}
