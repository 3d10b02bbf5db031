#include "wire/samples/pair_codec.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "slackline/base/text.h"
#include "wire/format/json_view.h"
#include "wire/samples/gavel_name.h"

namespace slackline::wire {
namespace {

constexpr std::string_view kTaskAlone = "null";
constexpr double kMostPerS = 1e9;

tl::unexpected<Error> invalid(std::string message) {
  return fail(ErrorCode::kInvalidArgument, std::move(message));
}

// "('NAME', 1)" is NAME; nullopt: more than one worker.
std::optional<std::string_view> task_name(std::string_view key) {
  if (!key.starts_with("('") || !key.ends_with(")")) return key;
  const std::size_t close = key.rfind("', ");
  if (close == std::string_view::npos || close < 2) return key;
  if (key.substr(close + 3) != "1)") return std::nullopt;
  return key.substr(2, close - 2);
}

std::optional<double> rate(JsonView value) {
  const auto number = value.number();
  if (!number || !(*number >= 0) || *number > kMostPerS) return std::nullopt;
  return number;
}

// A pair as the directions of the file add up to it.
struct Sum {
  double first_log = 0;
  double second_log = 0;
  int directions = 0;
  bool failed = false;
};

struct PairReading {
  PairMeasurements measured;
  std::map<std::string_view, int> index;
  std::map<std::pair<int, int>, Sum> sums;

  Status add_tasks(JsonView tasks);
  Status add_pairs(JsonView tasks);
  Status add_pair(int task, int other, JsonView rates);
};

Status PairReading::add_tasks(JsonView tasks) {
  for (const auto& [key, others] : tasks.fields()) {
    const auto name = task_name(key);
    if (!others.is_object())
      return invalid(format("{}: must be an object of its partners", printable(key, 128)));
    if (!name) continue;
    // A task without "null" was not measured alone: nothing can be said of it.
    const auto alone = rate(others[kTaskAlone]);
    if (!alone)
      return invalid(
          format("{}: \"null\" must be the iterations/s of the task alone, from 0 to {:g}",
                 printable(key, 128), kMostPerS));
    if (*alone == 0) continue;
    if (!index.emplace(*name, static_cast<int>(measured.tasks.size())).second)
      return invalid(format("{}: is there twice", printable(key, 128)));
    if (measured.tasks.size() == kMostPairTasks)
      return invalid(format("has more than {} tasks", kMostPairTasks));
    const GavelName parts = read_gavel_name(*name).value_or(GavelName{*name, {}});
    measured.tasks.emplace_back(*name);
    measured.families.emplace_back(parts.family);
    measured.batch_sizes.push_back(parts.batch.value_or(1));
    measured.alone_per_s.push_back(*alone);
  }
  return {};
}

Status PairReading::add_pair(int task, int other, JsonView rates) {
  double numbers[2] = {};
  std::size_t count = 0;
  for (const JsonView item : rates.items()) {
    const auto number = rate(item);
    if (!number || count == 2) return invalid("must be two iterations/s, or [0, 0]");
    numbers[count++] = *number;
  }
  if (count != 2) return invalid("must be two iterations/s, or [0, 0]");
  if (task > other) {
    std::swap(task, other);
    std::swap(numbers[0], numbers[1]);
  }
  Sum& sum = sums[{task, other}];
  if (!(numbers[0] > 0) || !(numbers[1] > 0)) {
    sum.failed = true;
    return {};
  }
  // Two copies of one task are two measurements of the same thing.
  const double first = std::log(numbers[0]);
  const double second = std::log(numbers[1]);
  sum.first_log += task == other ? (first + second) / 2 : first;
  sum.second_log += task == other ? (first + second) / 2 : second;
  ++sum.directions;
  return {};
}

Status PairReading::add_pairs(JsonView tasks) {
  for (const auto& [key, others] : tasks.fields()) {
    const auto name = task_name(key);
    const auto task = name ? index.find(*name) : index.end();
    if (task == index.end()) continue;
    for (const auto& [partner, rates] : others.fields()) {
      if (partner == kTaskAlone) continue;
      const auto partner_name = task_name(partner);
      const auto other = partner_name ? index.find(*partner_name) : index.end();
      if (other == index.end()) continue;
      if (const Status added = add_pair(task->second, other->second, rates); !added)
        return fail(added.error().with_context(
            format("{}: {}", printable(key, 128), printable(partner, 128))));
    }
  }
  for (const auto& [at, sum] : sums) {
    MeasuredPair pair{at.first, at.second, 0, 0};
    if (!sum.failed) {
      pair.first_per_s = std::exp(sum.first_log / sum.directions);
      pair.second_per_s = std::exp(sum.second_log / sum.directions);
    }
    measured.pairs.push_back(pair);
  }
  return {};
}

// The tasks of a GPU type, and its name as the file writes it.
Result<JsonField> find_type(JsonView root, std::string_view gpu_type) {
  std::vector<std::string> names;
  std::optional<JsonField> found;
  for (const JsonField& field : root.fields()) {
    names.push_back(printable(field.key, 64));
    if (gpu_type.empty() || to_lower(field.key) == to_lower(gpu_type)) found = field;
  }
  if (names.empty()) return invalid("must be an object of GPU types, each an object of tasks");
  if (gpu_type.empty() && names.size() > 1)
    return invalid(
        format("has the GPU types {}: say which, as in FILE:{}", join(names, ", "), names[0]));
  if (!found)
    return fail(ErrorCode::kNotFound, format("has no GPU type \"{}\"; it has {}",
                                             printable(gpu_type, 64), join(names, ", ")));
  if (!found->value.is_object())
    return invalid(format("{}: must be an object of tasks", printable(found->key, 64)));
  return *found;
}

Result<PairMeasurements> decode(std::string_view text, std::string_view gpu_type) {
  JsonDocument document;
  SLACKLINE_ASSIGN(const JsonView root, document.parse(text));
  SLACKLINE_ASSIGN(const JsonField type, find_type(root, gpu_type));
  PairReading reading;
  reading.measured.gpu_type = GpuType(to_upper(type.key));
  const auto of_type = [&](const Error& error) {
    return fail(error.with_context(printable(type.key, 64)));
  };
  if (const Status added = reading.add_tasks(type.value); !added) return of_type(added.error());
  if (const Status added = reading.add_pairs(type.value); !added) return of_type(added.error());
  const auto& pairs = reading.measured.pairs;
  if (std::none_of(pairs.begin(), pairs.end(), [](const MeasuredPair& pair) { return pair.ran(); }))
    return fail(ErrorCode::kNotFound, format("{}: has no pair of tasks that ran beside each other",
                                             printable(type.key, 64)));
  return std::move(reading.measured);
}

}  // namespace

Result<PairMeasurements> read_pairs(std::string_view text, std::string_view path,
                                    std::string_view gpu_type) {
  auto measured = decode(text, gpu_type);
  if (!measured) return fail(measured.error().with_context(path));
  return measured;
}

}  // namespace slackline::wire
