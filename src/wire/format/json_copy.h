// copy_json: a value of a document, written again.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "wire/format/json_view.h"
#include "wire/format/json_writer.h"

namespace slackline::wire {

inline constexpr int kMaxCopyDepth = 32;

// The keys of members that a copy leaves out.
using LeftOut = std::function<bool(std::string_view key)>;

// False: it is nested deeper than kMaxCopyDepth levels, and the copy lacks what lies there.
bool copy_json(JsonView value, JsonWriter& out);

// The value without these members, and without objects that are empty then. Empty: nothing is left,
// or it is nested too deep.
std::string json_without(JsonView value, const LeftOut& left_out);

}  // namespace slackline::wire
