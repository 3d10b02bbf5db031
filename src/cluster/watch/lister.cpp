#include "cluster/watch/lister.h"

#include <utility>

#include "slackline/base/text.h"

namespace slackline::cluster {
namespace {

// 500 objects at the API server's limit of 1.5 MB would be more; real pages are some MB.
constexpr std::size_t kMaxPageBytes = std::size_t{256} << 20;

}  // namespace

ApiResult<std::string> list_all(ApiClient& client, wire::KubeDecoder& decoder,
                                const ResourceSpec& resource, const ListOptions& options,
                                const std::function<void(wire::KubeObject)>& on_item,
                                const std::function<void()>& on_page) {
  std::string continue_token;
  for (;;) {
    net::HttpRequest request;
    request.url = format("{}?limit={}", resource.path, options.page_size);
    if (!continue_token.empty()) request.url += "&continue=" + path_segment(continue_token);
    request.timeout_s = options.timeout_s;
    request.max_body_bytes = kMaxPageBytes;
    request.interrupt = options.interrupt;
    const auto answer = client.send(std::move(request));
    if (!answer) return tl::unexpected(answer.error());
    auto page = decoder.list(resource.kind, answer->body);
    if (!page)
      return tl::unexpected(ApiFailure{.status = answer->status,
                                       .code = ErrorCode::kDataLoss,
                                       .reason = "",
                                       .message = page.error().message});
    for (wire::KubeObject& item : page->items)
      on_item(std::move(item));
    on_page();
    if (page->continue_token.empty()) return page->resource_version;
    continue_token = std::move(page->continue_token);
  }
}

}  // namespace slackline::cluster
