// Effort: how long a fit may search. Private to src/core/throughput.
#pragma once

namespace slackline::core {

// From all starts to convergence; or roughly, from the first one, which is enough to compare kinds.
enum class Effort { kFull, kRough };

}  // namespace slackline::core
