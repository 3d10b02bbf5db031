#include "wire/kube/stop_book_codec.h"

#include <optional>
#include <utility>

#include "slackline/base/duration.h"
#include "slackline/base/text.h"
#include "wire/format/json_view.h"
#include "wire/format/json_writer.h"
#include "wire/kube/kube_common.h"

namespace slackline::wire {
namespace {

constexpr double kMostGpu_s = 1e15;

std::string line_of(const BookedStop& stop) {
  JsonWriter out;
  out.begin_object().field("namespace", stop.stopped.ns).field("name", stop.stopped.name);
  out.field("uid", stop.uid.str());
  if (stop.count > 0) out.field("stop", stop.count);
  if (!stop.controller.str().empty()) out.field("controller", stop.controller.str());
  out.field("account", stop.account).field("at", format_rfc3339(stop.at_s));
  out.field("gpuSeconds", stop.gpu_s);
  if (!stop.asker.name.empty())
    out.field("askerNamespace", stop.asker.ns).field("asker", stop.asker.name);
  if (stop.in_vain_s) out.field("inVain", format_rfc3339(*stop.in_vain_s));
  out.end_object();
  return out.take();
}

std::optional<BookedStop> stop_of(std::string_view line) {
  JsonDocument document;
  const auto root = document.parse(line);
  if (!root) return std::nullopt;
  const JsonView& of = *root;
  BookedStop stop{
      .stopped = {std::string(of["namespace"].text()), std::string(of["name"].text())},
      .uid = Uid(of["uid"].text()),
      .count = of["stop"].integer().value_or(0),
      .controller = Uid(of["controller"].text()),
      .account = std::string(of["account"].text()),
      .at_s = read_time_s(of["at"]),
      .gpu_s = of["gpuSeconds"].number().value_or(-1),
      .asker = {std::string(of["askerNamespace"].text()), std::string(of["asker"].text())}};
  if (of["inVain"].present()) stop.in_vain_s = read_time_s(of["inVain"]);
  const bool readable = !stop.uid.str().empty() && stop.count >= 0 && stop.at_s > 0 &&
                        stop.gpu_s >= 0 && stop.gpu_s < kMostGpu_s;
  return readable ? std::optional(std::move(stop)) : std::nullopt;
}

}  // namespace

std::string encode_stop_book(const ObjectKey& name, const StopBookDto& book) {
  std::string lines;
  for (const BookedStop& stop : book.stops)
    lines += line_of(stop) + "\n";
  JsonWriter out(lines.size() + 512);
  out.begin_object().field("apiVersion", "v1").field("kind", "ConfigMap");
  out.key("metadata").begin_object().field("name", name.name).field("namespace", name.ns);
  out.key("labels").begin_object().field("app.kubernetes.io/name", "slackline").end_object();
  if (!book.resource_version.empty()) out.field("resourceVersion", book.resource_version);
  out.end_object();
  out.key("data").begin_object().field("stops", lines).end_object();
  out.end_object();
  return out.take();
}

Result<StopBookDto> decode_stop_book(std::string_view json) {
  JsonDocument document;
  SLACKLINE_ASSIGN(const JsonView root, document.parse(json));
  StopBookDto book;
  book.resource_version = std::string(root["metadata"]["resourceVersion"].text());
  if (book.resource_version.empty())
    return fail(ErrorCode::kInvalidArgument,
                "the answer is not a ConfigMap: metadata.resourceVersion is missing");
  const std::string lines(root["data"]["stops"].text());
  for (const std::string_view line : split(lines, '\n')) {
    if (line.empty()) continue;
    if (auto stop = stop_of(line))
      book.stops.push_back(*std::move(stop));
    else
      ++book.unreadable;
  }
  return book;
}

}  // namespace slackline::wire
