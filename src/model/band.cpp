#include "slackline/model/band.h"

#include "slackline/base/text.h"

namespace slackline {
namespace {

constexpr std::string_view kPrivate = "private-";
constexpr std::string_view kPublic = "public-";

}  // namespace

std::string PriorityBand::name() const {
  return format("{}{}", is_private ? kPrivate : kPublic, level);
}

std::optional<PriorityBand> band_named(std::string_view name) {
  for (int level = 1; level <= kHighestBandLevel; ++level)
    for (const PriorityBand band : {PriorityBand{true, level}, PriorityBand{false, level}})
      if (band.name() == name) return band;
  return std::nullopt;
}

}  // namespace slackline
