// GET /openapi.json: the description of the API (OpenAPI 3.0), made of the routes' own descriptions
// and of the columns of the rows (wire/rest/rows.h). routes/openapi_schemas.json has the schemas
// of what is sent.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "http/server/router.h"
#include "wire/rest/rows.h"

namespace slackline::http {

// Of a route that takes a manifest: its greatest body, and what the body is.
inline constexpr std::size_t kMaxManifest = std::size_t{1} << 20;
inline constexpr const char* kManifestBody =
    R"({"application/json":{"schema":{"type":"object","description":"A Pod or a Job"}},)"
    R"("application/yaml":{"schema":{"type":"string"}}})";

// The document of all routes that have an operation.
std::string openapi_document(const Router& router);

// Adds the route; it describes the routes added before.
void add_openapi_route(Router& router);

// Parameters that several routes have.
Parameter output_parameter();
Parameter namespace_parameter(std::string about = {});
Parameter pod_parameter();  // NAMESPACE/NAME
// Output, limit, continue, and further ones. For lists that are kept for their next page (pages.h).
std::vector<Parameter> list_parameters(const std::vector<Parameter>& further = {});
// For lists that can be arranged (control/query/arrange.h): those, and search, state, sort, offset.
template <class Row>
std::vector<Parameter> arranged_parameters(std::vector<Parameter> further = {});
// The same for lists that go on behind a row.
std::vector<Parameter> journal_parameters(const std::vector<Parameter>& further = {});

template <class T>
Operation answers_one(std::string id, std::string summary, std::string answer,
                      std::vector<Operation::Failure> failures = {}) {
  return {.id = std::move(id),
          .summary = std::move(summary),
          .answer = std::move(answer),
          .form = Operation::Form::kOne,
          .schema = "{" + wire::reference_to<T>() + "}",
          .failures = std::move(failures)};
}

// A list of rows, with the members `Facts` besides its items.
template <class Row>
Operation answers_list(std::string id, std::string summary, std::string answer,
                       std::vector<Operation::Failure> failures = {},
                       const wire::Members& facts = {}) {
  return {.id = std::move(id),
          .summary = std::move(summary),
          .answer = std::move(answer),
          .form = Operation::Form::kList,
          .schema = wire::list_schema(wire::reference_to<Row>(), facts),
          .failures = std::move(failures)};
}

// The list that `continue` names is gone.
Operation::Failure list_is_gone();

}  // namespace slackline::http
