// PolicyKind: a policy as its file registers it. Private to src/core.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "options.h"
#include "planning.h"
#include "stop_rules.h"

namespace slackline::core {

struct PolicyKind {
  using Texts = std::span<const std::string_view>;

  std::string_view name;
  std::string_view family;
  std::vector<std::string_view> variants;
  // kInvalidArgument: a wrong option. The variants must be among the above.
  std::function<Result<std::shared_ptr<const PolicyRule>>(Texts variants, Texts assignments)> make;
};

// Every rule of a policy is one.
class StoppingRule : public PolicyRule {
 public:
  virtual std::optional<StopRules> stop_rules() const = 0;  // nullopt: it stops nobody

  std::optional<StopLimits> stop_limits() const final {
    const auto rules = stop_rules();
    if (!rules) return std::nullopt;
    return StopLimits{.protect_s = rules->protect_s, .most_stops = rules->most_stops};
  }
};

template <class O>
struct PolicyVariant {
  std::string_view name;  // behind the '/'
  void (*apply)(O& options);
};

// A policy whose options are an O.
template <class O>
struct PolicySpec {
  std::string_view name;
  std::string_view family;
  void (*serve)(Planning& planning, const O& options);
  std::span<const PolicyVariant<O>> variants{};
  std::span<const OptionOf<O>> options{};
  O preset{};
  bool (*preempts)(const O& options) = nullptr;  // null: never
  bool (*reserves)(const O& options) = nullptr;  // null: never
  std::optional<LossBudget> (*budget)(const O& options) = nullptr;
  StopRules (*stops)(const O& options) = nullptr;  // of one that preempts; null: the usual ones
};

template <class O>
class SpecifiedRule final : public StoppingRule {
 public:
  SpecifiedRule(const PolicySpec<O>& spec, O options) : spec_(spec), options_(std::move(options)) {}

  void serve(Planning& planning) const override { spec_.serve(planning, options_); }
  bool preempts() const override { return spec_.preempts != nullptr && spec_.preempts(options_); }
  bool reserves() const override { return spec_.reserves != nullptr && spec_.reserves(options_); }
  std::optional<LossBudget> budget() const override {
    return spec_.budget != nullptr ? spec_.budget(options_) : std::nullopt;
  }
  std::optional<StopRules> stop_rules() const override {
    if (!preempts()) return std::nullopt;
    return spec_.stops != nullptr ? spec_.stops(options_) : StopRules{};
  }
  std::vector<PolicyOption> options() const override {
    return list_options(spec_.options, options_);
  }

 private:
  const PolicySpec<O> spec_;
  const O options_;
};

template <class O>
PolicyKind kind_of(const PolicySpec<O>& spec) {
  PolicyKind kind{spec.name, spec.family, {}, {}};
  for (const PolicyVariant<O>& variant : spec.variants)
    kind.variants.push_back(variant.name);
  kind.make = [spec](PolicyKind::Texts variants,
                     PolicyKind::Texts assignments) -> Result<std::shared_ptr<const PolicyRule>> {
    O options = spec.preset;
    for (const std::string_view name : variants)
      for (const PolicyVariant<O>& variant : spec.variants)
        if (variant.name == name) variant.apply(options);
    for (const std::string_view assignment : assignments)
      SLACKLINE_TRY(set_option(spec.name, spec.options, assignment, options));
    return std::make_shared<const SpecifiedRule<O>>(spec, std::move(options));
  };
  return kind;
}

}  // namespace slackline::core
