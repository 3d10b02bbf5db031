// Kubernetes quantities ("500m", "1.5Gi", "4", "2e3") as integers.
//
// Grammar: resource.Quantity of apimachinery. Values are exact and rounded to the requested unit:
// requests are rounded up, as Quantity.Value() and MilliValue() do, capacities down. A text that
// does not fit into int64, or is not a quantity, is an error that repeats it, never a wrapped or
// saturated number.
#pragma once

#include <cstdint>
#include <string_view>

#include "slackline/base/result.h"

namespace slackline {

enum class Rounding { kUp, kDown };

// In whole units (bytes, GPUs): "0.5Gi" is 536870912, "1500m" is 2, and 1 rounded down.
Result<std::int64_t> parse_quantity(std::string_view text, Rounding rounding = Rounding::kUp);

// In thousandths (CPU): "0.1" is 100, "1" is 1000.
Result<std::int64_t> parse_quantity_milli(std::string_view text, Rounding rounding = Rounding::kUp);

}  // namespace slackline
