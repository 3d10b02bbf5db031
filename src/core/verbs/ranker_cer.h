// The ranker "cer"; ranker.h says what it does. Private to src/core.
#pragma once

#include "slackline/core/verbs/ranker.h"

namespace slackline::core {

class CerRanker final : public Ranker {
 public:
  std::string_view name() const override { return "cer"; }
  void rank(const Measurement& measured, std::span<std::int64_t> keys) const override;
};

}  // namespace slackline::core
