// AdmissionReview: what is accepted has a uid, and every answer to it is valid JSON.
#include "fuzz/fuzz.h"
#include "wire/admission/admission_codec.h"
#include "wire/kube/access_review_codec.h"

using namespace slackline;
using namespace slackline::fuzz;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const GpuCatalog catalog = default_gpu_catalog();
  const std::string_view text = text_of(data, size);
  (void)wire::decode_access_review(text);
  const auto review = wire::decode_admission(text, catalog);
  if (!review) return 0;
  require(!review->uid.empty(), "a review has a uid");
  AdmissionDecision allowed;
  allowed.warnings = {review->ns, review->user.name};
  allowed.changes.suspend = true;
  allowed.changes.gate = true;
  allowed.changes.annotations = {{"slackline.dev/a~b", review->ns}};
  allowed.changes.template_labels = {{"slackline.dev/managed", "true"}};
  allowed.changes.env = {{"SLACKLINE_NODES", "slackline.dev/nodes"}};
  allowed.changes.gpus = GpuCountChange{0, "nvidia.com/gpu", 1};
  require_json(wire::encode_admission(*review, allowed), "an answer is JSON");
  const std::string patch = wire::encode_json_patch(*review, allowed.changes);
  if (!patch.empty()) require_json(patch, "a patch is JSON");
  AdmissionDecision refused;
  refused.refusal = Refusal{"QueueFull", review->user.name};
  require_json(wire::encode_admission(*review, refused), "a refusal is JSON");
  require_json(wire::encode_access_review(review->user, {"use", "r", review->ns, "n"}), "JSON");
  return 0;
}
