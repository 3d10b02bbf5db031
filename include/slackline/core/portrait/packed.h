// The bytes of a portrait, for a database or a file: some two kB of a family that runs every night.
//
// Times are rounded to milliseconds, what was measured to seven digits, and histograms as
// histogram.h says. The bytes do not depend on the machine.
#pragma once

#include <string>
#include <string_view>

#include "slackline/base/result.h"
#include "slackline/model/portrait.h"

namespace slackline::core {

std::string packed(const Portrait& portrait);
// kDataLoss: the bytes are of another version, cut off, or no portrait.
Result<Portrait> unpacked_portrait(std::string_view bytes);

}  // namespace slackline::core
