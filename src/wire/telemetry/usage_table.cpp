#include "wire/telemetry/usage_table.h"

#include <optional>

#include "slackline/base/text.h"
#include "wire/rest/rows.h"

namespace slackline::wire {
namespace {

constexpr double kHundredth = 0.01;
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

using Measured = std::optional<Usage> UsageSample::*;

// In this unit; empty where it was not measured.
auto shown(double Usage::* figure, Measured usage, double unit = 1) {
  return [=](const UsageSample& sample) {
    return sample.*usage ? format("{:.1f}", *(sample.*usage).*figure / unit) : "";
  };
}

}  // namespace

template <>
const Columns<Usage>& columns<Usage>() {
  using C = Column<Usage>;
  static const Columns<Usage> kColumns = {
      "Usage", {C("mean", &Usage::mean), C("max", &Usage::max), C("seconds", &Usage::seconds)}};
  return kColumns;
}

template <>
const Columns<UsageSample>& columns<UsageSample>() {
  using C = Column<UsageSample>;
  using S = const UsageSample&;
  constexpr auto kMean = &Usage::mean;
  constexpr auto kMax = &Usage::max;
  static const Columns<UsageSample> kColumns = {
      "UsageSample",
      {
          C("task", &UsageSample::task).cell("TASK"),
          C("run", &UsageSample::run),
          C("from", [](S sample) { return Time{sample.from_s}; }),
          C("to", [](S sample) { return Time{sample.to_s}; }),
          C("gapSeconds", &UsageSample::gap_s),
          C("gpus", [](S sample) { return word_of(sample.gpus); }),
          C("cpuCores", &UsageSample::cpu_cores),
          C("memoryBytes", &UsageSample::memory_bytes),
          C("gpuShare", &UsageSample::gpu_share),
          C("gpuMemoryShare", &UsageSample::gpu_memory_share),
          C::only_cell(">GPU %", shown(kMean, &UsageSample::gpu_share, kHundredth)),
          C::only_cell(">GPU MAX %", shown(kMax, &UsageSample::gpu_share, kHundredth)),
          C::only_cell(">GPU MEM %", shown(kMean, &UsageSample::gpu_memory_share, kHundredth)),
          C::only_cell(">GPU MEM MAX %", shown(kMax, &UsageSample::gpu_memory_share, kHundredth)),
          C::only_cell(">CPU", shown(kMean, &UsageSample::cpu_cores)),
          C::only_cell(">CPU MAX", shown(kMax, &UsageSample::cpu_cores)),
          C::only_cell(">MEMORY MIB", shown(kMean, &UsageSample::memory_bytes, kMebibyte)),
          C::only_cell(">MEMORY MAX MIB", shown(kMax, &UsageSample::memory_bytes, kMebibyte)),
          C::only_cell("GPUS", [](S sample) { return word_of(sample.gpus); }),
          C::only_cell(">WINDOW", [](S sample) { return Seconds{sample.to_s - sample.from_s}; }),
          C::only_cell(">GAP", [](S sample) { return Seconds{sample.gap_s}; }),
      }};
  return kColumns;
}

TextTable usage_table(const std::vector<UsageSample>& samples) {
  return table_of(samples);
}

std::string usage_json(const std::vector<UsageSample>& samples,
                       const std::vector<std::string>& remarks) {
  JsonWriter out;
  write_value(out.begin_object().key("items"), samples);
  write_value(out.key("remarks"), remarks);
  out.end_object();
  return out.take();
}

}  // namespace slackline::wire
