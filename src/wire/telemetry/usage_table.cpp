#include "wire/telemetry/usage_table.h"

#include <optional>
#include <utility>

#include "slackline/base/duration.h"
#include "slackline/base/text.h"
#include "wire/format/json_writer.h"

namespace slackline::wire {
namespace {

constexpr double kMebibyte = 1 << 20;

std::string_view word_of(UsageQuality quality) {
  switch (quality) {
    case UsageQuality::kMeasured:
      return "measured";
    case UsageQuality::kShared:
      return "shared";
    case UsageQuality::kUnknown:
      return "unknown";
  }
  return "";
}

std::string mean_text(const std::optional<Usage>& usage, double unit) {
  return usage ? format("{:.1f}", usage->mean / unit) : "";
}

std::string max_text(const std::optional<Usage>& usage, double unit) {
  return usage ? format("{:.1f}", usage->max / unit) : "";
}

}  // namespace

TextTable usage_table(const std::vector<UsageSample>& samples) {
  constexpr double kPercent = 0.01;
  TextTable table({"TASK", ">GPU %", ">GPU MAX %", ">GPU MEM %", ">GPU MEM MAX %", ">CPU",
                   ">CPU MAX", ">MEMORY MIB", ">MEMORY MAX MIB", "GPUS", ">WINDOW", ">GAP"});
  for (const UsageSample& sample : samples)
    table.add({sample.task.str(), mean_text(sample.gpu_share, kPercent),
               max_text(sample.gpu_share, kPercent), mean_text(sample.gpu_memory_share, kPercent),
               max_text(sample.gpu_memory_share, kPercent), mean_text(sample.cpu_cores, 1),
               max_text(sample.cpu_cores, 1), mean_text(sample.memory_bytes, kMebibyte),
               max_text(sample.memory_bytes, kMebibyte), std::string(word_of(sample.gpus)),
               format_duration(sample.to_s - sample.from_s), format_duration(sample.gap_s)});
  return table;
}

std::string usage_json(const std::vector<UsageSample>& samples,
                       const std::vector<std::string>& remarks) {
  JsonWriter out;
  const auto field = [&out](std::string_view key, const std::optional<Usage>& usage) {
    if (!usage) return;
    out.key(key).begin_object().field("mean", usage->mean).field("max", usage->max);
    out.field("seconds", usage->seconds).end_object();
  };
  out.begin_object().key("items").begin_array();
  for (const UsageSample& sample : samples) {
    out.begin_object().field("task", sample.task.str()).field("run", sample.run.str());
    out.field("from", format_rfc3339(sample.from_s)).field("to", format_rfc3339(sample.to_s));
    out.field("gapSeconds", sample.gap_s).field("gpus", word_of(sample.gpus));
    field("cpuCores", sample.cpu_cores);
    field("memoryBytes", sample.memory_bytes);
    field("gpuShare", sample.gpu_share);
    field("gpuMemoryShare", sample.gpu_memory_share);
    out.end_object();
  }
  out.end_array().key("remarks").begin_array();
  for (const std::string& remark : remarks)
    out.string(remark);
  out.end_array().end_object();
  return out.take();
}

}  // namespace slackline::wire
