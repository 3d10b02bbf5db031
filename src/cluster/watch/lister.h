// A paged LIST: every object of a resource at one moment, item by item, one page in memory at a
// time.
#pragma once

#include <functional>
#include <string>

#include "cluster/api/api_client.h"
#include "cluster/watch/resource.h"
#include "net/interrupt.h"
#include "wire/kube/kube_decode.h"

namespace slackline::cluster {

struct ListOptions {
  int page_size = 500;
  double timeout_s = 30;  // per page
  net::Interrupt* interrupt = nullptr;
};

// `on_item` takes each object, `on_page` is called after each page. The value is the list's
// resourceVersion. A failure may come after some items were given; expired() means that a continue
// token was too old (410).
ApiResult<std::string> list_all(ApiClient& client, wire::KubeDecoder& decoder,
                                const ResourceSpec& resource, const ListOptions& options,
                                const std::function<void(wire::KubeObject)>& on_item,
                                const std::function<void()>& on_page);

}  // namespace slackline::cluster
