#include "http/routes/node_routes.h"

#include <vector>

#include "control/query/spared_nodes.h"
#include "http/routes/answers.h"
#include "http/routes/openapi.h"

namespace slackline::http {
namespace {

Response list_nodes(const control::Queries& queries, control::QueueQuery& queue, Pages& pages,
                    const Request& request) {
  const Status readable = queries.readable();
  if (!readable) return failure(readable.error());
  return arranged<ListedNode>(request, pages, [&] {
    std::vector<ListedNode> nodes = queries.nodes();
    if (const auto view = queue.ask("")) control::tell_spared(view->rows, nodes);
    return nodes;
  });
}

}  // namespace

void add_node_routes(Router& router, const control::Queries& queries, control::QueueQuery& queue,
                     Pages& pages) {
  router.add(
      {.method = "GET",
       .pattern = "/v1/nodes",
       .handler =
           [&queries, &queue, &pages](const Request& request) {
             return list_nodes(queries, queue, pages, request);
           },
       .parameters = arranged_parameters<ListedNode>(),
       .operation = answers_list<ListedNode>("listNodes", "Nodes with their GPUs: used, held, free",
                                             "A page of nodes", {{503}, list_is_gone()})});
}

}  // namespace slackline::http
