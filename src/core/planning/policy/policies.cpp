// The policies by name, and the parser of names.
#include "policies.h"

#include <algorithm>
#include <span>

#include "slackline/base/text.h"

namespace slackline::core {
namespace {

std::vector<PolicyKind> policy_kinds() {
  return {fifo_kind(),        min_min_kind(),    weighted_fair_kind(), capacity_kind(),
          tetris_perf_kind(), tetris_cer_kind(), qos_kind(),           easy_kind(),
          edf_easy_kind(),    reserve_kind(),    savable_kind(),       savable_p_kind(),
          default_kind()};
}

Result<PolicyKind> find_kind(std::string_view name) {
  std::vector<std::string> names;
  for (PolicyKind& kind : policy_kinds()) {
    if (kind.name == name) return std::move(kind);
    names.emplace_back(kind.name);
  }
  return fail(ErrorCode::kInvalidArgument,
              format("unknown policy \"{}\"; allowed: {}", printable(name, 40), join(names, ", ")));
}

Status check_variant(const PolicyKind& kind, std::string_view name) {
  if (std::ranges::find(kind.variants, name) != kind.variants.end()) return {};
  std::vector<std::string> names;
  for (const std::string_view variant : kind.variants)
    names.push_back(format("{}/{}", kind.name, variant));
  return fail(ErrorCode::kInvalidArgument,
              format("{} has no variant \"{}\"; allowed: {}", kind.name, printable(name, 40),
                     join(names, ", ")));
}

}  // namespace

Result<Policy> parse_policy(std::string_view text) {
  const std::vector<std::string_view> parts = split(text, ',');
  const std::vector<std::string_view> name = split(parts.front(), '/');
  SLACKLINE_ASSIGN(const PolicyKind kind, find_kind(name.front()));
  const PolicyKind::Texts variants = PolicyKind::Texts(name).subspan(1);
  for (const std::string_view variant : variants)
    SLACKLINE_TRY(check_variant(kind, variant));
  SLACKLINE_ASSIGN(auto rule, kind.make(variants, PolicyKind::Texts(parts).subspan(1)));
  return Policy{std::string(trim(text)), kind.family, std::move(rule)};
}

std::vector<std::string> policy_names() {
  std::vector<std::string> names;
  for (const PolicyKind& kind : policy_kinds()) {
    names.emplace_back(kind.name);
    for (const std::string_view variant : kind.variants)
      names.push_back(format("{}/{}", kind.name, variant));
  }
  return names;
}

}  // namespace slackline::core
