// `slackline try` and `quote`, POST /v1/scores and /v1/quote: a manifest becomes a task or an
// error, and what `try` sends of it is JSON; the answers of any daemon, tables too, are read or
// refused.
#include "fuzz/fuzz.h"
#include "wire/format/cells.h"
#include "wire/gangs/gang_object.h"
#include "wire/kube/manifest.h"

using namespace slackline;
using namespace slackline::fuzz;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = text_of(data, size);
  if (const auto manifest = wire::split_manifest(text))
    for (const wire::ManifestObject& object : manifest->objects)
      require_json(object.json, "an object of a manifest is JSON");
  (void)wire::read_posted(text, "team", default_gpu_catalog()).has_value();
  wire::KubeDecoder decoder(default_gpu_catalog());
  if (const auto gang = wire::read_gang_object(text, decoder); gang && gang->owner)
    (void)wire::gang_object_path(*gang->owner, "team").has_value();
  (void)wire::decode_tried(text).has_value();
  (void)wire::decode_cells(text).has_value();
  return 0;
}
