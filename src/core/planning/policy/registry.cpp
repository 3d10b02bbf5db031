// The policies by name, and the parser of names.
#include <algorithm>
#include <span>

#include "options.h"
#include "policies.h"
#include "slackline/base/text.h"

namespace slackline::core {
namespace {

struct Variant {
  std::string_view name;  // behind the '/'
  void (*apply)(PolicyOptions& options);
};

constexpr Variant kCounting[] = {
    {"shrink", [](PolicyOptions& o) { o.counting = Counting::kShrink; }},
    {"idle", [](PolicyOptions& o) { o.counting = Counting::kIdle; }},
};
constexpr Variant kShrinkOnly[] = {kCounting[0]};
constexpr Variant kInOrder[] = {{"fifo", [](PolicyOptions& o) { o.in_order = true; }}};
constexpr Variant kBlocking[] = {
    {"skip", [](PolicyOptions& o) { o.blocked = Blocked::kSkips; }},
    {"yield", [](PolicyOptions& o) { o.blocked = Blocked::kYields; }},
};
constexpr Variant kSavableVariants[] = {
    {"m",
     [](PolicyOptions& o) {
       o.savable.margin = 0.1;
       o.savable.follow_error = false;
     }},
    {"area", [](PolicyOptions& o) { o.savable.place = SavableOptions::Place::kArea; }},
};

void nothing(PolicyOptions&) {}

// Without preemption some GPUs stay free for tasks that cannot wait.
void waits(PolicyOptions& o) {
  o.savable.headroom = 0.125;
  o.savable.calm = 0.125;
}

void preempts(PolicyOptions& o) {
  o.savable.preempt = SavableOptions::Preempt::kResumableVictims;
}

void trades_and_learns(PolicyOptions& o) {
  preempts(o);
  o.savable.trade = true;
  o.savable.learn = true;
  o.savable.follow_error = true;
}

struct PolicyKind {
  std::string_view name;
  std::string_view family;
  void (*serve)(Planning& planning, const PolicyOptions& options);
  std::span<const Variant> variants;
  void (*preset)(PolicyOptions& options);
};

const PolicyKind kKinds[] = {
    {"fifo", "fifo", serve_fifo, kCounting, nothing},
    {"min-min", "min-min", serve_min_min, kCounting, nothing},
    {"weighted-fair", "weighted-fair", serve_weighted_fair, kCounting, nothing},
    {"capacity", "capacity", serve_capacity, kShrinkOnly, nothing},
    {"tetris+perf", "tetris+perf", serve_tetris_perf, kInOrder, nothing},
    {"tetris+cer", "tetris+cer", serve_tetris_cer, kInOrder, nothing},
    {"qos", "qos", serve_qos, kBlocking, nothing},
    {"savable", "savable-first", serve_savable_first, kSavableVariants, waits},
    {"savable-p", "savable-first", serve_savable_first, kSavableVariants, preempts},
    {"default", "savable-first", serve_savable_first, kSavableVariants, trades_and_learns},
};

Result<const PolicyKind*> find_kind(std::string_view name) {
  std::vector<std::string> names;
  for (const PolicyKind& kind : kKinds) {
    if (kind.name == name) return &kind;
    names.emplace_back(kind.name);
  }
  return fail(ErrorCode::kInvalidArgument,
              format("unknown policy \"{}\"; allowed: {}", printable(name, 40), join(names, ", ")));
}

Status apply_variant(const PolicyKind& kind, std::string_view name, PolicyOptions& options) {
  std::vector<std::string> names;
  for (const Variant& variant : kind.variants) {
    if (variant.name == name) {
      variant.apply(options);
      return {};
    }
    names.push_back(format("{}/{}", kind.name, variant.name));
  }
  return fail(ErrorCode::kInvalidArgument,
              format("{} has no variant \"{}\"; allowed: {}", kind.name, printable(name, 40),
                     join(names, ", ")));
}

}  // namespace

Result<Policy> parse_policy(std::string_view text) {
  const std::vector<std::string_view> parts = split(text, ',');
  const std::vector<std::string_view> name = split(parts.front(), '/');
  SLACKLINE_ASSIGN(const PolicyKind* kind, find_kind(name.front()));
  Policy policy{std::string(trim(text)), kind->family, kind->serve, {}};
  kind->preset(policy.options);
  for (std::size_t i = 1; i < name.size(); ++i)
    SLACKLINE_TRY(apply_variant(*kind, name[i], policy.options));
  for (std::size_t i = 1; i < parts.size(); ++i) {
    if (kind->serve != serve_savable_first)
      return fail(ErrorCode::kInvalidArgument, format("{} takes no options, but \"{}\" is given",
                                                      kind->name, printable(parts[i], 40)));
    SLACKLINE_TRY(set_savable_option(parts[i], policy.options.savable));
  }
  return policy;
}

std::vector<std::string> policy_names() {
  std::vector<std::string> names;
  for (const PolicyKind& kind : kKinds) {
    names.emplace_back(kind.name);
    for (const Variant& variant : kind.variants)
      names.push_back(format("{}/{}", kind.name, variant.name));
  }
  return names;
}

}  // namespace slackline::core
