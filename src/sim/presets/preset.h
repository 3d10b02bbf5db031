// Presets: the experiments of papers, each with its own world, policies and figures, on one command
// line: `slackline simulate --preset NAME --seeds A-B --compare a,b,c --report R.json`.
//
// A preset is one file in src/sim/presets and one line in its registry. Its options are described
// as data; the command line, its help and its checks are made of them.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "slackline/base/result.h"

namespace slackline::sim {

enum class PresetKind {
  kNumber,        // from least to most
  kWhole,         // the same without decimals
  kChoice,        // one of `choices`, as "a|b"
  kText,          // the preset says what is wrong with it
  kFlag,          // "yes" if it is given, else ""
  kFile,          // PATH, or PATH:PART if `choices` says what a part is; the preset gets the text
  kOptionalFile,  // the same; if it is not given, the preset gets none
  kFolder,        // PATH; the preset gets the *.csv below whose names begin with `choices`
};

struct PresetOption {
  std::string_view name;  // as in --load
  PresetKind kind = PresetKind::kNumber;
  std::string_view value;  // if it is not given; "" of a kFile: it must be
  std::string_view about;  // with the unit
  double least = 0;
  double most = 0;
  std::string_view choices{};
  std::string_view read_for{};  // of a kFolder, "curves=real": it is read only for this value
};

struct PresetFile {
  std::string path;
  std::string part;  // what follows the last ':' of the argument; "" without one
  std::string text;
};

// What is to be simulated; every option of the preset has a valid value.
struct PresetRequest {
  std::vector<std::uint64_t> seeds;
  std::vector<std::string> policies;  // of the preset, each once
  std::map<std::string, std::string, std::less<>> values;
  std::map<std::string, PresetFile, std::less<>> files;
  std::map<std::string, std::vector<PresetFile>, std::less<>> folders;  // by path; none: empty

  double number(std::string_view option) const;
  int whole(std::string_view option) const { return static_cast<int>(number(option)); }
  bool flag(std::string_view option) const { return text(option) == "yes"; }
  const std::string& text(std::string_view option) const;
};

// One row a policy, in the order of the request.
struct PresetReport {
  struct Row {
    std::string name;
    std::vector<double> figures;
  };
  std::vector<std::string> figures;  // their names, as in JSON
  std::vector<Row> rows;
  std::string note;  // one line for people: what was assumed
};

struct Preset {
  std::string_view name;
  std::string_view about;                      // one line
  std::string_view seeds_name;                 // "seeds", or what a seed is
  std::string_view seeds;                      // "0-7", if none are given
  std::span<const std::string_view> policies;  // the first ones up to `compared` by themselves
  std::size_t compared;
  std::span<const PresetOption> options;
  Result<PresetReport> (*run)(const PresetRequest& request);
};

// The names of a preset's table of policies, whose rows have one each.
template <class Row, std::size_t kRows>
constexpr std::array<std::string_view, kRows> names_of(const Row (&policies)[kRows]) {
  std::array<std::string_view, kRows> names;
  for (std::size_t i = 0; i < kRows; ++i)
    names[i] = policies[i].name;
  return names;
}

// Its row of this name, which is one of names_of().
template <class Row, std::size_t kRows>
const Row& policy_named(const Row (&policies)[kRows], std::string_view name) {
  return *std::find_if(policies, policies + kRows,
                       [&](const Row& row) { return row.name == name; });
}

// By name.
std::span<const Preset* const> presets();
// The error lists the presets that there are.
Result<const Preset*> find_preset(std::string_view name);

// "0-7" or "3": at most 1000 seeds.
Result<std::vector<std::uint64_t>> parse_seeds(std::string_view text);
// "a,b": policies of the preset, each once; "" gives those that are compared by themselves.
Result<std::vector<std::string>> parse_preset_policies(const Preset& preset, std::string_view text);
// An error about what a file holds: wrong, but not the command line (kInvalidArgument is that).
Error in_file(Error error);
// "": the value is one that the option takes; else why not. Files are not read.
std::string check_preset_value(const PresetOption& option, const std::string& value);

// {"policies":[{"name":...,FIGURE:...}]}
std::string format_preset_json(const PresetReport& report);
// For people, with the note below. A figure that is NaN is "-", and null in JSON.
std::string format_preset_table(const PresetReport& report);

extern const Preset kMatchPreset;
extern const Preset kPaper001Preset;
extern const Preset kPaper002Preset;
extern const Preset kPaper003Preset;
extern const Preset kSharingPreset;

}  // namespace slackline::sim
