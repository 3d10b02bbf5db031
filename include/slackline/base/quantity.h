// Kubernetes quantities ("500m", "1.5Gi", "4", "2e3") as integers.
//
// Grammar: resource.Quantity of apimachinery. Values are exact and rounded up to the asked unit, as
// Quantity.Value() and MilliValue() do; what does not fit into int64 or is not a quantity is an
// error with the text in it, never a wrapped or saturated number.
#pragma once

#include <cstdint>
#include <string_view>

#include "slackline/base/result.h"

namespace slackline {

// In whole units (bytes, GPUs), rounded up: "0.5Gi" is 536870912, "1500m" is 2.
Result<std::int64_t> parse_quantity(std::string_view text);

// In thousandths (CPU), rounded up: "0.1" is 100, "1" is 1000.
Result<std::int64_t> parse_quantity_milli(std::string_view text);

}  // namespace slackline
