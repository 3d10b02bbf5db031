// Cells and sentences that several rows of REST share.
#pragma once

#include <string>
#include <string_view>

#include "slackline/model/ids.h"

namespace slackline::wire {

inline constexpr std::string_view kSourceAbout =
    "Where the predicted throughput is from: measured, corrected, fitted, similar, family or "
    "default; empty without a prediction";
inline constexpr std::string_view kExtrapolatedAbout =
    "The prediction is outside what was measured";

inline std::string type_text(const GpuType& type) {
  return type.empty() ? "unknown" : type.str();
}

// The cells of a row's GPU type and of where its prediction is from.
template <class Row>
auto type_shown() {
  return [](const Row& row) { return type_text(row.gpu_type); };
}

template <class Row>
auto source_shown() {
  return
      [](const Row& row) { return row.extrapolated ? row.source + ", extrapolated" : row.source; };
}

}  // namespace slackline::wire
