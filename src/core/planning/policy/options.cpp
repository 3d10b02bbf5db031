#include "options.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "slackline/base/text.h"

namespace slackline::core {
namespace {

constexpr double kNoUpperEnd = std::numeric_limits<double>::max();

struct NumberOption {
  std::string_view name;
  double SavableOptions::* field;
  double most = kNoUpperEnd;  // the least is 0
};

constexpr NumberOption kNumbers[] = {
    {"p0", &SavableOptions::p0},
    {"age", &SavableOptions::age},
    {"floor", &SavableOptions::floor_s},
    {"share", &SavableOptions::share, 1},
    {"headroom", &SavableOptions::headroom, 1},
    {"calm", &SavableOptions::calm, 1},
    {"margin", &SavableOptions::margin},
    {"patience", &SavableOptions::patience_s},
    {"gap", &SavableOptions::gap},
    {"protect", &SavableOptions::protect_s},
    {"tick", &SavableOptions::tick_s},
};

struct WordOption {
  std::string_view name;
  std::string_view word;
  void (*set)(SavableOptions& options);
};

using O = SavableOptions;
constexpr WordOption kWords[] = {
    {"margin", "auto", [](O& o) { o.follow_error = true; }},
    {"preempt", "0", [](O& o) { o.preempt = O::Preempt::kNever; }},
    {"preempt", "1", [](O& o) { o.preempt = O::Preempt::kLateVictims; }},
    {"preempt", "2", [](O& o) { o.preempt = O::Preempt::kResumableVictims; }},
    {"place", "price", [](O& o) { o.place = O::Place::kPrice; }},
    {"place", "cer", [](O& o) { o.place = O::Place::kCer; }},
    {"place", "area", [](O& o) { o.place = O::Place::kArea; }},
    {"place", "perf", [](O& o) { o.place = O::Place::kPerf; }},
    {"order", "deadline", [](O& o) { o.order = O::Order::kDeadline; }},
    {"order", "area", [](O& o) { o.order = O::Order::kArea; }},
    {"order", "slack", [](O& o) { o.order = O::Order::kSlack; }},
    {"order", "class", [](O& o) { o.order = O::Order::kClass; }},
    {"rest", "ratio", [](O& o) { o.rest = O::Rest::kRatio; }},
    {"rest", "fifo", [](O& o) { o.rest = O::Rest::kFifo; }},
    {"rest", "area", [](O& o) { o.rest = O::Rest::kArea; }},
    {"shrink", "off", [](O& o) { o.shrink = false; }},
    {"shrink", "on", [](O& o) { o.shrink = true; }},
    {"learn", "off", [](O& o) { o.learn = false; }},
    {"learn", "on", [](O& o) { o.learn = true; }},
    {"trade", "off", [](O& o) { o.trade = false; }},
    {"trade", "on", [](O& o) { o.trade = true; }},
};

constexpr std::string_view kMaxPreempts = "max_preempts";

tl::unexpected<Error> wrong(std::string_view name, std::string_view value,
                            std::string_view allowed) {
  return fail(ErrorCode::kInvalidArgument,
              format("option {}={}: must be {}", name, printable(value, 40), allowed));
}

std::string allowed_names() {
  std::vector<std::string> names;
  for (const NumberOption& option : kNumbers)
    names.emplace_back(option.name);
  names.emplace_back(kMaxPreempts);
  for (const WordOption& option : kWords)
    if (std::find(names.begin(), names.end(), option.name) == names.end())
      names.emplace_back(option.name);
  return join(names, ", ");
}

Status set_number(const NumberOption& option, std::string_view value, SavableOptions& options) {
  const auto number = parse_number(value);
  if (!number || !std::isfinite(*number) || *number < 0 || *number > option.most)
    return wrong(option.name, value,
                 option.most == kNoUpperEnd ? "a number from 0 on" : "a number from 0 to 1");
  options.*option.field = *number;
  if (option.field == &SavableOptions::margin) options.follow_error = false;
  return {};
}

Status set_max_preempts(std::string_view value, SavableOptions& options) {
  const auto number = parse_int(value);
  if (!number || *number < 0 || *number > std::numeric_limits<int>::max())
    return wrong(kMaxPreempts, value, "an integer from 0 on");
  options.max_preempts = static_cast<int>(*number);
  return {};
}

}  // namespace

Status set_savable_option(std::string_view assignment, SavableOptions& options) {
  const std::size_t equals = assignment.find('=');
  const std::string_view name = trim(assignment.substr(0, equals));
  const std::string_view value =
      equals == std::string_view::npos ? "" : trim(assignment.substr(equals + 1));
  std::vector<std::string> words;
  for (const WordOption& option : kWords) {
    if (option.name != name) continue;
    if (option.word == value) {
      option.set(options);
      return {};
    }
    words.emplace_back(option.word);
  }
  for (const NumberOption& option : kNumbers)
    if (option.name == name) return set_number(option, value, options);
  if (name == kMaxPreempts) return set_max_preempts(value, options);
  if (!words.empty()) return wrong(name, value, join(words, " or "));
  return fail(ErrorCode::kInvalidArgument,
              format("unknown option \"{}\"; allowed: {}", printable(name, 40), allowed_names()));
}

}  // namespace slackline::core
