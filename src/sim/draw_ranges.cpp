#include "sim/draw_ranges.h"

#include <algorithm>
#include <cmath>

#include "sim/scaling_table.h"
#include "slackline/base/text.h"
#include "slackline/core/throughput/throughput.h"
#include "wire/format/document.h"

namespace slackline::sim {
namespace {

using wire::Document;

constexpr double kMaxBatch = 1e6;
constexpr double kMaxIterations = 1e12;
constexpr BatchRange kUsualBatches{32, 128};  // where a profile states none

Result<std::vector<double>> read_numbers(const Document& type, std::string_view key, double most) {
  const Document* list = type.find(key);
  const auto wrong = [&](std::string_view what) {
    return fail(ErrorCode::kInvalidArgument,
                format("line {}: {}.{}: {}", list != nullptr ? list->line : type.line, type.path,
                       key, what));
  };
  if (list == nullptr || list->kind != Document::Kind::kList || list->items.empty())
    return wrong("must be a list of numbers, to draw tasks from");
  std::vector<double> numbers;
  for (const Document& item : list->items) {
    const auto number = parse_number(item.scalar);
    if (!number || !(*number >= 1) || *number > most || *number != std::floor(*number))
      return wrong(format("must be whole numbers of 1 to {}", most));
    numbers.push_back(*number);
  }
  return numbers;
}

Result<DrawRange> read_range(const std::string& name, const Document& type) {
  DrawRange range;
  range.type = name;
  SLACKLINE_ASSIGN(range.batches, read_numbers(type, "batch", kMaxBatch));
  SLACKLINE_ASSIGN(const auto iterations, read_numbers(type, "iters", kMaxIterations));
  if (iterations.size() != 2 || iterations[0] > iterations[1])
    return fail(ErrorCode::kInvalidArgument,
                format("line {}: {}.iters: must be [least, most]", type.line, type.path));
  range.least_iterations = iterations[0];
  range.most_iterations = iterations[1];
  return range;
}

std::vector<double> powers_of_two(const BatchRange& within) {
  std::vector<double> batches;
  for (int power = 0; std::ldexp(1.0, power) <= std::min(within.most, kMaxBatch); ++power)
    if (std::ldexp(1.0, power) >= within.least) batches.push_back(std::ldexp(1.0, power));
  if (batches.empty()) batches.push_back(std::max(1.0, std::floor(within.most)));
  constexpr std::size_t kMost = 4;  // the largest ones: small batches are rare in practice
  if (batches.size() > kMost)
    batches.erase(batches.begin(), batches.end() - static_cast<std::ptrdiff_t>(kMost));
  return batches;
}

}  // namespace

Result<std::vector<DrawRange>> read_draw_ranges(std::string_view text, const std::string& file) {
  const auto root = wire::read_document(text);
  if (!root)
    return fail(ErrorCode::kInvalidArgument,
                format("{}: line {}: {}", file, root.error().line, root.error().message));
  const Document* types = root->find("types");
  if (types == nullptr || types->kind != Document::Kind::kMap || types->fields.empty())
    return fail(ErrorCode::kInvalidArgument, format("{}: types: must be a map of models", file));
  std::vector<DrawRange> ranges;
  for (const auto& [name, type] : types->fields) {
    auto range = read_range(name, type);
    if (!range) return fail(range.error().with_context(file));
    ranges.push_back(std::move(*range));
  }
  return ranges;
}

bool states_draw_ranges(std::string_view text) {
  const auto root = wire::read_document(text);
  if (!root) return false;
  const Document* kind = root->find("kind");
  return kind != nullptr && kind->scalar == "seed";
}

std::vector<DrawRange> default_draw_ranges(const WorkloadProfiles& profiles,
                                           const GpuType& gpu_type) {
  std::vector<DrawRange> ranges;
  for (const ProfileEntry& entry : profiles.entries()) {
    if (entry.gpu_type != gpu_type) continue;
    DrawRange range;
    range.type = entry.model;
    range.batches = measured_batches(entry.coefficients);
    if (range.batches.empty())
      range.batches = powers_of_two(entry.batch_range.value_or(kUsualBatches));
    const double middle = range.batches[range.batches.size() / 2];
    const auto throughput = core::predict_throughput(entry.coefficients, middle, Placement{1, 1});
    if (!throughput) continue;
    const double iterations_per_s = *throughput / middle;
    range.least_iterations = std::max(1.0, std::ceil(kShortest_s * iterations_per_s));
    range.most_iterations =
        std::max(range.least_iterations, std::floor(kLongest_s * iterations_per_s));
    ranges.push_back(std::move(range));
  }
  return ranges;
}

}  // namespace slackline::sim
