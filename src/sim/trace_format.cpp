#include "sim/trace_format.h"

#include "sim/trace_csv.h"
#include "slackline/base/text.h"

namespace slackline::sim {
namespace {

// Chronus and ElasticFlow share most names: the format with the rarer column comes first.
constexpr TraceFormat kFormats[] = {
    {"chronus", "expect_time_list", read_chronus},
    {"pollux", "application", read_pollux},
    {"elasticflow", "model_name", read_elasticflow},
    {"philly", "duration", read_philly},
};
constexpr std::string_view kGolden = "golden";
constexpr std::string_view kGoldenTelltale = "klass";

Result<Recording> read_recording(const wire::CsvTable& table, std::string_view name,
                                 const RecordedOptions& options) {
  for (const TraceFormat& candidate : kFormats) {
    if (name == "auto" ? !table.column(candidate.telltale) : name != candidate.name) continue;
    return candidate.read(table, options);
  }
  return fail(
      ErrorCode::kInvalidArgument,
      name == "auto"
          ? format("line 1: the header is of no trace format known ({}); there are {}",
                   fmt::join(trace_format_names(), ", "), printable(join(table.header, ", ")))
          : format("there is no trace format {}; there are {}", printable(name, 40),
                   fmt::join(trace_format_names(), ", ")));
}

Result<Trace> load(std::string_view text, std::string_view name, const RecordedOptions& options) {
  if (name == kGolden) return parse_trace_csv(text);
  SLACKLINE_ASSIGN(const wire::CsvTable table, wire::read_csv(text));
  if (name == "auto" && table.column(kGoldenTelltale)) return parse_trace_csv(text);
  SLACKLINE_ASSIGN(Recording recording, read_recording(table, name, options));
  return trace_of(std::move(recording.jobs), options, std::move(recording.assumptions));
}

}  // namespace

std::span<const TraceFormat> trace_formats() {
  return kFormats;
}

std::vector<std::string> trace_format_names() {
  std::vector<std::string> names = {"auto", std::string(kGolden)};
  for (const TraceFormat& known : kFormats)
    names.emplace_back(known.name);
  return names;
}

Result<Recording> load_recording(std::string_view text, std::string_view name) {
  SLACKLINE_ASSIGN(const wire::CsvTable table, wire::read_csv(text));
  SLACKLINE_ASSIGN(Recording recording, read_recording(table, name, {}));
  if (recording.drawn)
    return fail(ErrorCode::kInvalidArgument,
                "this format has no durations; give a trace that does");
  return recording;
}

Result<Trace> load_trace(std::string_view text, const std::string& file, std::string_view format,
                         const RecordedOptions& options) {
  auto trace = load(text, format, options);
  if (!trace) return fail(trace.error().with_context(file));
  if (trace->tasks.empty())
    return fail(ErrorCode::kInvalidArgument,
                slackline::format(
                    "{}: has no tasks after its header, or the options exclude all of them", file));
  return trace;
}

}  // namespace slackline::sim
