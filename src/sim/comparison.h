// Several policies on the same trace, side by side, for people.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/report.h"

namespace slackline::sim {

// One row per policy, named as it was written; the best figure of every column carries a '*' (ties:
// all of them), where there are several rows. Policies that leave tasks unserved say so.
std::string format_comparison(const std::vector<std::pair<std::string, Report>>& rows);

// "fifo,savable-p,margin=0.2,qos" is three policies: a part with '=' belongs to the one before it.
std::vector<std::string> split_policies(std::string_view text);

}  // namespace slackline::sim
