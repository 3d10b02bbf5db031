#include "http/routes/openapi.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <utility>

#include "control/query/arrange.h"
#include "http/routes/answers.h"
#include "http/routes/pages.h"
#include "slackline/base/text.h"
#include "wire/format/json_writer.h"

namespace slackline {

// src/http/routes/openapi_schemas.json, compiled in.
extern const std::vector<std::pair<std::string_view, std::string_view>> kOpenApiSchemas;
// src/http/routes/examples: one file OPERATION.json each, JSON.
extern const std::vector<std::pair<std::string_view, std::string_view>> kOpenApiRequests;
extern const std::vector<std::pair<std::string_view, std::string_view>> kOpenApiAnswers;

namespace http {
namespace {

using wire::JsonWriter;
using Form = Operation::Form;

constexpr std::string_view kStatus = R"({"$ref":"#/components/schemas/Status"})";
constexpr std::string_view kText = R"({"type":"string"})";
constexpr std::string_view kCells = R"({"$ref":"#/components/schemas/Cells"})";
constexpr std::string_view kJsonMedia = R"({"application/json":{)";
constexpr std::int64_t kJournalLimit = 100;

// What stands in the paths of the examples.
constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kPathExamples = {
    {{"ns", "team"}, {"name", "train"}, {"model", "net"}, {"family", "nightly"}}};

// Of that name; empty: there is none.
template <class Pairs>
std::string_view named(const Pairs& pairs, std::string_view name) {
  const auto found = std::find_if(pairs.begin(), pairs.end(),
                                  [&](const auto& pair) { return pair.first == name; });
  return found == pairs.end() ? std::string_view() : trim(found->second);
}

std::vector<Parameter> with_limit(std::int64_t otherwise, std::string about_continue,
                                  const std::vector<Parameter>& further) {
  std::vector<Parameter> all = {
      output_parameter(),
      {.name = "limit",
       .about = "At most this many items",
       .schema = format(R"({{"type":"integer","minimum":1,"maximum":{},"default":{}}})", kMaxLimit,
                        otherwise)},
      {.name = "continue", .about = std::move(about_continue)}};
  all.insert(all.end(), further.begin(), further.end());
  return all;
}

void write_parameter(JsonWriter& out, std::string_view place, const Parameter& parameter) {
  out.begin_object().field("name", parameter.name).field("in", place);
  if (parameter.required) out.field("required", true);
  if (!parameter.about.empty()) out.field("description", parameter.about);
  if (!parameter.example.empty()) out.field("example", parameter.example);
  out.key("schema").raw(parameter.schema).end_object();
}

void write_parameters(JsonWriter& out, const Route& route) {
  out.key("parameters").begin_array();
  for (std::size_t at = route.pattern.find('{'); at != std::string::npos;
       at = route.pattern.find('{', at + 1)) {
    const std::string name = route.pattern.substr(at + 1, route.pattern.find('}', at) - at - 1);
    write_parameter(out, "path",
                    {.name = name,
                     .schema = R"({"type":"string","minLength":1,"maxLength":253})",
                     .required = true,
                     .example = std::string(named(kPathExamples, name))});
  }
  for (const Parameter& parameter : route.parameters.value_or(route.operation.parameters))
    write_parameter(out, "query", parameter);
  out.end_array();
}

void write_media(JsonWriter& out, std::string_view type, std::string_view schema,
                 std::string_view example = {}) {
  out.key(type).begin_object().key("schema").raw(schema);
  if (!example.empty()) out.key("example").raw(example);
  out.end_object();
}

// The media types of a request; the first is JSON and has the example.
void write_body(JsonWriter& out, const Operation& operation) {
  out.key("requestBody").begin_object().field("required", true).key("content");
  const std::string_view example = named(kOpenApiRequests, operation.id + ".json");
  const std::string_view rest = std::string_view(operation.body).substr(kJsonMedia.size());
  out.raw(example.empty() ? operation.body
                          : format(R"({}"example":{},{})", kJsonMedia, example, rest));
  out.end_object();
}

void write_answer(JsonWriter& out, const Operation& operation) {
  out.key("200").begin_object().field("description", operation.answer);
  if (operation.form == Form::kList)
    out.key("headers")
        .begin_object()
        .key(kContinueHeader)
        .begin_object()
        .field("description", "Where the list goes on; absent at its end")
        .key("schema")
        .raw(kText)
        .end_object()
        .end_object();
  out.key("content").begin_object();
  const bool events = operation.form == Form::kEvents;
  if (events) write_media(out, "text/event-stream", kText);
  if (operation.form != Form::kText && !events)
    write_media(out, "application/json", operation.schema,
                named(kOpenApiAnswers, operation.id + ".json"));
  if (operation.form != Form::kJson && !events) write_media(out, "text/plain", kText);
  if (operation.form == Form::kOne || operation.form == Form::kList)
    write_media(out, "application/yaml", operation.schema);
  if (operation.form == Form::kList) {
    write_media(out, "text/csv", kText);
    write_media(out, kCellsType, kCells);
  }
  for (const std::string& media : operation.further_media)
    write_media(out, media, kText);
  out.end_object().end_object();
}

void write_failure(JsonWriter& out, std::string_view status, std::string_view about, bool is_text) {
  out.key(status).begin_object().field("description", about).key("content").begin_object();
  if (is_text)
    write_media(out, "text/plain", kText);
  else
    write_media(out, "application/json", kStatus);
  out.end_object().end_object();
}

void write_operation(JsonWriter& out, const Route& route) {
  const Operation& operation = route.operation;
  out.key(to_lower(route.method)).begin_object().field("operationId", operation.id);
  out.field("summary", operation.summary);
  write_parameters(out, route);
  if (!operation.body.empty()) write_body(out, operation);
  out.key("responses").begin_object();
  write_answer(out, operation);
  for (const Operation::Failure& failure : operation.failures)
    write_failure(out, std::to_string(failure.status), failure.about,
                  operation.form == Form::kText);
  // The server's own refusals: of a malformed query, for example.
  write_failure(out, "default", Operation::Failure().about, false);
  out.end_object().end_object();
}

void write_paths(JsonWriter& out, const Router& router) {
  std::vector<std::string> patterns;  // in the order of the routes
  std::map<std::string, std::vector<const Route*>> by_pattern;
  for (const Route* route : router.routes()) {
    if (route->operation.id.empty()) continue;
    std::vector<const Route*>& methods = by_pattern[route->pattern];
    if (methods.empty()) patterns.push_back(route->pattern);
    methods.push_back(route);
  }
  out.key("paths").begin_object();
  for (const std::string& pattern : patterns) {
    out.key(pattern).begin_object();
    for (const Route* route : by_pattern[pattern])
      write_operation(out, *route);
    out.end_object();
  }
  out.end_object();
}

// Whether a listener asks for a token is its configuration: on loopback it does not.
constexpr std::string_view kSecuritySchemes =
    R"({"token":{"type":"http","scheme":"bearer","description":"A token of the cluster: of the )"
    R"(caller's kubeconfig or ServiceAccount. What it may get is judged by the cluster's RBAC"}})";
constexpr std::string_view kSecurity = R"([{},{"token":[]}])";

}  // namespace

std::string openapi_document(const Router& router) {
  JsonWriter out;
  out.begin_object().field("openapi", "3.0.3");
  out.key("info")
      .begin_object()
      .field("title", "Slackline")
      .field("description",
             "What the daemon sees, decides and would decide. Every answer also comes as a text "
             "table or YAML, every list as CSV too: ask with output=, or with Accept (text/plain, "
             "application/yaml, text/csv).")
      .field("version", "v1")
      .key("license")
      .begin_object()
      .field("name", "Apache-2.0")
      .end_object()
      .end_object();
  write_paths(out, router);
  out.key("components").begin_object().key("schemas").begin_object();
  out.members(trim(kOpenApiSchemas.front().second));
  for (const auto& [name, schema] : wire::rest_schemas())
    out.key(name).raw(schema);
  out.end_object().key("securitySchemes").raw(kSecuritySchemes).end_object();
  out.key("security").raw(kSecurity).end_object();
  return out.take();
}

void add_openapi_route(Router& router) {
  router.add({.method = "GET",
              .pattern = "/openapi.json",
              .handler = [document = openapi_document(router)](const Request&) {
                return json(document);
              }});
}

Parameter output_parameter() {
  return {.name = "output",
          .about =
              "The form of the answer; without it Accept decides, else JSON. cells: the "
              "columns and rows of the table as JSON, for programs that draw it",
          .schema = R"({"type":"string","enum":["table","wide","json","yaml","csv","cells"]})"};
}

Parameter namespace_parameter(std::string about) {
  return {.name = "namespace", .about = std::move(about), .example = "team"};
}

Parameter pod_parameter() {
  return {.name = "pod", .about = "NAMESPACE/NAME", .example = "team/single"};
}

std::vector<Parameter> list_parameters(const std::vector<Parameter>& further) {
  return with_limit(kDefaultLimit,
                    "metadata.continue, or the header Slackline-Continue, of the part before; "
                    "empty: from the beginning",
                    further);
}

template <class Row>
std::vector<Parameter> arranged_parameters(std::vector<Parameter> further) {
  std::vector<std::string> keys;
  std::vector<std::string> states;
  for (const std::string_view key : control::sort_keys_of<Row>()) {
    keys.push_back(format("\"{}\"", key));
    keys.push_back(format("\"-{}\"", key));
  }
  for (const std::string_view state : control::states_of<Row>())
    states.push_back(format("\"{}\"", state));
  const auto one_of = [](const std::vector<std::string>& values) {
    return format(R"({{"type":"string","enum":[{}]}})", join(values, ","));
  };
  further.push_back({.name = "search", .about = "Only rows that have each of these words"});
  further.push_back({.name = "state", .about = "Only these", .schema = one_of(states)});
  further.push_back({.name = "sort", .about = "-: descending", .schema = one_of(keys)});
  further.push_back(
      {.name = "offset",
       .about = "Skip as many items of the list as it is now; such a part has no continue",
       .schema = R"({"type":"integer","minimum":0,"maximum":10000000})"});
  return list_parameters(further);
}

template std::vector<Parameter> arranged_parameters<QueueRow>(std::vector<Parameter>);
template std::vector<Parameter> arranged_parameters<ListedTask>(std::vector<Parameter>);
template std::vector<Parameter> arranged_parameters<ListedNode>(std::vector<Parameter>);

std::vector<Parameter> journal_parameters(const std::vector<Parameter>& further) {
  return with_limit(kJournalLimit, "metadata.continue of the page before", further);
}

Operation::Failure list_is_gone() {
  return {410,
          "The list that continue names is not kept any more (a minute after it was last "
          "asked for), or is another query's"};
}

}  // namespace http
}  // namespace slackline
