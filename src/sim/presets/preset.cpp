#include "sim/presets/preset.h"

#include <algorithm>
#include <cmath>

#include "slackline/base/text.h"
#include "wire/format/json_writer.h"
#include "wire/format/text_table.h"

namespace slackline::sim {
namespace {

constexpr std::uint64_t kMostSeeds = 1000;

tl::unexpected<Error> wrong(std::string message) {
  return fail(ErrorCode::kInvalidArgument, std::move(message));
}

}  // namespace

const std::string& PresetRequest::text(std::string_view option) const {
  return values.find(option)->second;
}

double PresetRequest::number(std::string_view option) const {
  return parse_number(text(option)).value_or(0);
}

Result<const Preset*> find_preset(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Preset* preset : presets()) {
    if (preset->name == name) return preset;
    names.push_back(preset->name);
  }
  return wrong(format("no preset is named \"{}\"; there are {}", printable(name, 64),
                      fmt::join(names, ", ")));
}

Result<std::vector<std::uint64_t>> parse_seeds(std::string_view text) {
  const auto refused = wrong(format("\"{}\" must be a seed or a range of at most {}, as in 0-7",
                                    printable(text, 40), kMostSeeds));
  const auto parts = split(text, '-');
  const auto first = parse_int(parts.front());
  const auto last = parse_int(parts.back());
  if (parts.size() > 2 || !first || !last || *first < 0 || *last < *first) return refused;
  if (static_cast<std::uint64_t>(*last - *first) >= kMostSeeds) return refused;
  std::vector<std::uint64_t> seeds;
  for (std::int64_t seed = *first; seed <= *last; ++seed)
    seeds.push_back(static_cast<std::uint64_t>(seed));
  return seeds;
}

Result<std::vector<std::string>> parse_preset_policies(const Preset& preset,
                                                       std::string_view text) {
  std::vector<std::string> names;
  if (text.empty()) {
    const auto compared = preset.policies.first(preset.compared);
    return std::vector<std::string>(compared.begin(), compared.end());
  }
  for (const std::string_view name : split(text, ',')) {
    if (std::find(preset.policies.begin(), preset.policies.end(), name) == preset.policies.end())
      return wrong(format("no policy of the preset {} is named \"{}\"; there are {}", preset.name,
                          printable(name, 64), fmt::join(preset.policies, ", ")));
    if (std::find(names.begin(), names.end(), name) != names.end())
      return wrong(format("the policy {} is named twice", name));
    names.emplace_back(name);
  }
  return names;
}

Error in_file(Error error) {
  if (error.code == ErrorCode::kInvalidArgument) error.code = ErrorCode::kDataLoss;
  return error;
}

std::string check_preset_value(const PresetOption& option, const std::string& value) {
  if (option.kind == PresetKind::kFlag || option.kind == PresetKind::kFile ||
      option.kind == PresetKind::kOptionalFile || option.kind == PresetKind::kFolder ||
      option.kind == PresetKind::kText)
    return {};
  if (option.kind == PresetKind::kChoice) {
    const auto choices = split(option.choices, '|');
    if (std::find(choices.begin(), choices.end(), value) != choices.end()) return {};
    return format("\"{}\" must be one of {}", printable(value, 40), fmt::join(choices, ", "));
  }
  const auto number = parse_number(value);
  const bool whole = option.kind == PresetKind::kWhole;
  if (number && *number >= option.least && *number <= option.most &&
      (!whole || *number == std::floor(*number)))
    return {};
  return format("\"{}\" must be a {}number between {:g} and {:g}", printable(value, 40),
                whole ? "whole " : "", option.least, option.most);
}

std::string format_preset_json(const PresetReport& report) {
  wire::JsonWriter out;
  out.begin_object().key("policies").begin_array();
  for (const PresetReport::Row& row : report.rows) {
    out.begin_object().field("name", row.name);
    for (std::size_t i = 0; i < row.figures.size(); ++i)
      out.field(report.figures[i], row.figures[i]);
    out.end_object();
  }
  out.end_array().end_object();
  return out.take() + "\n";
}

std::string format_preset_table(const PresetReport& report) {
  std::vector<std::string> headings = {"POLICY"};
  for (std::string heading : report.figures) {
    std::replace(heading.begin(), heading.end(), '_', ' ');
    headings.push_back(">" + to_upper(heading));
  }
  wire::TextTable table(headings);
  for (const PresetReport::Row& row : report.rows) {
    std::vector<std::string> cells = {row.name};
    for (const double figure : row.figures)
      cells.push_back(std::isfinite(figure) ? format("{:.3f}", figure) : "-");
    table.add(std::move(cells));
  }
  return table.str() + (report.note.empty() ? "" : report.note + "\n");
}

std::span<const Preset* const> presets() {
  static constexpr const Preset* kAll[] = {
      &kMatchPreset, &kSharingPreset, &kPaper001Preset, &kPaper002Preset, &kPaper003Preset,
  };
  return kAll;
}

}  // namespace slackline::sim
