// The policies, one file each; the registry names them.
#pragma once

#include "planning.h"

namespace slackline::core {

void serve_fifo(Planning& planning, const PolicyOptions& options);
void serve_min_min(Planning& planning, const PolicyOptions& options);
void serve_weighted_fair(Planning& planning, const PolicyOptions& options);
void serve_capacity(Planning& planning, const PolicyOptions& options);
void serve_tetris_perf(Planning& planning, const PolicyOptions& options);
void serve_tetris_cer(Planning& planning, const PolicyOptions& options);
void serve_qos(Planning& planning, const PolicyOptions& options);
void serve_savable_first(Planning& planning, const PolicyOptions& options);

}  // namespace slackline::core
