// Cells and sentences that several rows of REST share.
#pragma once

#include <string_view>

namespace slackline::wire {

inline constexpr std::string_view kSourceAbout =
    "Where the predicted throughput is from: measured, corrected, fitted, similar, family or "
    "default; empty without a prediction";
inline constexpr std::string_view kExtrapolatedAbout =
    "The prediction is outside what was measured";

// The cells of a row's GPU type and of where its prediction is from.
template <class Row>
auto type_shown() {
  return [](const Row& row) { return row.gpu_type.empty() ? "unknown" : row.gpu_type.str(); };
}

template <class Row>
auto source_shown() {
  return
      [](const Row& row) { return row.extrapolated ? row.source + ", extrapolated" : row.source; };
}

}  // namespace slackline::wire
