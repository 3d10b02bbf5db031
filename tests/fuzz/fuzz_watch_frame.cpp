// Watch frames of every kind; the first byte chooses the kind.
#include "fuzz/fuzz.h"
#include "wire/kube/kube_decode.h"

using namespace slackline;
using namespace slackline::fuzz;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static wire::KubeDecoder decoder(default_gpu_catalog());
  if (size == 0) return 0;
  const auto kind = static_cast<wire::KubeKind>(data[0] % 5);
  const std::string_view text = text_of(data + 1, size - 1);
  const auto frame = decoder.watch_frame(kind, text);
  if (frame && frame->type == wire::WatchType::kUnknown)
    require(frame->resource_version.empty(), "unknown frames move no version");
  if (const auto status = wire::decode_status(text))
    require(status->retry_after_s >= 0 && status->retry_after_s <= 86400, "a sane delay");
  return 0;
}
