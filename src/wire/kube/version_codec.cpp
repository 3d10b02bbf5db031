#include "wire/kube/version_codec.h"

#include "slackline/base/saturating.h"
#include "slackline/base/text.h"
#include "wire/format/json_view.h"

namespace slackline::wire {

Result<int> decode_server_minor(std::string_view json) {
  JsonDocument document;
  SLACKLINE_ASSIGN(const JsonView root, document.parse(json));
  const std::string_view emulated = root["emulationMinor"].text();
  const std::string_view text = emulated.empty() ? root["minor"].text() : emulated;
  const auto minor = parse_int(text.substr(0, text.find_first_not_of("0123456789")));
  if (!minor || root["major"].text() != "1")
    return fail(
        ErrorCode::kInvalidArgument,
        format("/version does not give a version of Kubernetes 1: major \"{}\", minor \"{}\"",
               printable(root["major"].text(), 16), printable(text, 16)));
  return saturating_int(*minor);
}

}  // namespace slackline::wire
