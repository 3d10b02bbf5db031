// PriorityBand: the PriorityClass that the pods of a planned Job get (002, "private" and "public"
// priorities): private-10 .. private-1 where its queue owns the GPUs that it starts on, public-10
// .. public-1 where it borrows some or has them of the pool. Within both, who uses GPUs better, and
// who was stopped more often, stands higher. deploy/bands has the classes.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace slackline {

inline constexpr int kHighestBandLevel = 10;

struct PriorityBand {
  bool is_private = false;
  int level = 1;  // 1..kHighestBandLevel

  std::string name() const;  // "private-7"
};

std::optional<PriorityBand> band_named(std::string_view name);  // nullopt: no band's name

}  // namespace slackline
