// The extender protocol's bodies (extender/v1 of kube-scheduler; CamelCase out, any case in).
//
// Requests are validated whole (simdjson DOM): truncated JSON, invalid UTF-8, depth beyond 1024 are
// errors with kInvalidArgument that name the byte offset where known (F01, F06, F07). A request
// that decodes but cannot be answered ("Pod is missing") is a refusal, to be put into a 200 reply.
//
// A request may name at most name_limit() nodes; one that names more is refused.
//
// Thread-safety: one codec per thread. A decoded request's views live until the codec's next
// decode.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "slackline/base/result.h"
#include "slackline/model/extender_messages.h"
#include "slackline/model/gpu_catalog.h"

namespace slackline::wire {

// A request that is well-formed JSON; `refusal` says why it cannot be answered, empty if it can.
template <class T>
struct Decoded {
  T request;
  std::string refusal;
  bool too_many = false;  // nodes; refused for that
};

// Twice the number of nodes, so that a cache that lags behind can still answer, but at least
// 50,000. `known` may be null.
std::size_t name_limit(const NodeNames* known);

class ExtenderCodec {
 public:
  // `key`: see NameTable.
  explicit ExtenderCodec(GpuCatalog catalog, const HashKey& key = {});
  ~ExtenderCodec();

  // `known` makes reading its names fast; the result is the same without it.
  Result<Decoded<NodesRequest>> decode_nodes(std::string_view body,
                                             const std::shared_ptr<const NodeNames>& known = {});
  Result<Decoded<PreemptRequest>> decode_preempt(
      std::string_view body, const std::shared_ptr<const NodeNames>& known = {});
  Result<Decoded<BindRequest>> decode_bind(std::string_view body);

  // Answers to the request decoded last by this codec. Names (or, for full_objects, Node documents)
  // are written as they came; every requested node occurs exactly once.
  std::string encode_filter(const NodesRequest& request, const FilterReply& reply) const;
  std::string encode_prioritize(const NodesRequest& request, const PrioritizeReply& reply) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

std::string encode_filter_error(std::string_view error);
std::string encode_preempt(const PreemptReply& reply);
std::string encode_bind(const BindReply& reply);

}  // namespace slackline::wire
