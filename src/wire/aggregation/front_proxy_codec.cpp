#include "wire/aggregation/front_proxy_codec.h"

#include <utility>

#include "slackline/base/base64.h"
#include "slackline/base/text.h"
#include "wire/format/json_view.h"
#include "wire/format/json_writer.h"

namespace slackline::wire {
namespace {

// A member of the ConfigMap that is a JSON list in a string; absent: empty.
Result<std::vector<std::string>> list_in(const JsonView& data, std::string_view key) {
  std::vector<std::string> out;
  const std::string_view text = data[key].text();
  if (text.empty()) return out;
  JsonDocument document;
  auto list = document.parse(text);
  if (!list) return fail(list.error().with_context(std::string(key)));
  for (const JsonView item : list->items())
    out.emplace_back(item.text());
  return out;
}

}  // namespace

Result<FrontProxy> decode_front_proxy(std::string_view config_map_json) {
  JsonDocument document;
  SLACKLINE_ASSIGN(const JsonView root, document.parse(config_map_json));
  const JsonView data = root["data"];
  FrontProxy out;
  out.client_ca = data["requestheader-client-ca-file"].text();
  SLACKLINE_ASSIGN(out.allowed_names, list_in(data, "requestheader-allowed-names"));
  if (out.client_ca.empty())
    return fail(ErrorCode::kInvalidArgument,
                "the API server has no aggregation layer: start it with "
                "--requestheader-client-ca-file");
  const std::string_view of_people = data["client-ca-file"].text();
  if (out.allowed_names.empty() && of_people.find(trim(out.client_ca)) != std::string_view::npos)
    return fail(ErrorCode::kInvalidArgument,
                "whoever has a client certificate of the cluster could pass for its front proxy: "
                "start the API server with --requestheader-allowed-names, or with an authority of "
                "its own for the front proxy");
  return out;
}

Result<std::string> encode_api_service_patch(std::string_view api_service_json,
                                             std::string_view authorities_pem) {
  JsonDocument document;
  SLACKLINE_ASSIGN(const JsonView root, document.parse(api_service_json));
  const std::string bundle = encode_base64(authorities_pem);
  if (root["spec"]["caBundle"].text() == bundle) return std::string();
  JsonWriter out;
  out.begin_object().key("spec").begin_object().field("caBundle", bundle);
  out.end_object().end_object();
  return out.take();
}

}  // namespace slackline::wire
