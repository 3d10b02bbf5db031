// The policies, one file each; the registry lists them.
#pragma once

#include "policy_kind.h"

namespace slackline::core {

PolicyKind fifo_kind();
PolicyKind min_min_kind();
PolicyKind weighted_fair_kind();
PolicyKind capacity_kind();
PolicyKind tetris_perf_kind();
PolicyKind tetris_cer_kind();
PolicyKind qos_kind();
PolicyKind easy_kind();
PolicyKind edf_easy_kind();
PolicyKind reserve_kind();
PolicyKind savable_kind();
PolicyKind savable_p_kind();
PolicyKind default_kind();

}  // namespace slackline::core
