// Values that may be missing, as REST shows them: an empty cell of a table, no member of an object.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "slackline/base/duration.h"
#include "slackline/base/text.h"
#include "wire/format/json_writer.h"

namespace slackline::wire {

// Epoch seconds, as RFC 3339.
inline std::string time_text(const std::optional<double>& epoch_s) {
  return epoch_s ? format_rfc3339(*epoch_s) : "";
}

inline void time_field(JsonWriter& out, std::string_view name,
                       const std::optional<double>& epoch_s) {
  if (epoch_s) out.field(name, format_rfc3339(*epoch_s));
}

}  // namespace slackline::wire
