#include "wire/kube/key_codec.h"

#include "slackline/base/base64.h"
#include "slackline/base/text.h"
#include "wire/format/json_view.h"
#include "wire/format/json_writer.h"

namespace slackline::wire {

std::string encode_key_patch(const KeySecretDto& secret) {
  std::string lines;
  for (const SharedKey& key : secret.keys)
    lines += format("{:.3f} {}\n", key.made_s, encode_base64(key.bytes));
  JsonWriter out;
  out.begin_object();
  out.key("metadata").begin_object();
  out.field("resourceVersion", secret.resource_version).end_object();
  out.key("data").begin_object().field("keys", encode_base64(lines)).end_object();
  out.end_object();
  return out.take();
}

Result<KeySecretDto> decode_key_secret(std::string_view json) {
  JsonDocument document;
  SLACKLINE_ASSIGN(const JsonView root, document.parse(json));
  KeySecretDto secret;
  secret.resource_version = std::string(root["metadata"]["resourceVersion"].text());
  if (secret.resource_version.empty())
    return fail(ErrorCode::kInvalidArgument,
                "the answer is not a Secret: metadata.resourceVersion is missing");
  const std::string lines = decode_base64(root["data"]["keys"].text()).value_or("");
  for (const std::string_view line : split(lines, '\n')) {
    const std::size_t space = line.find(' ');
    if (space == std::string_view::npos) continue;
    const auto made_s = parse_number(line.substr(0, space));
    auto bytes = decode_base64(line.substr(space + 1));
    if (made_s && bytes && !bytes->empty()) secret.keys.push_back({*made_s, *std::move(bytes)});
  }
  return secret;
}

}  // namespace slackline::wire
