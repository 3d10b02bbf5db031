// What `slackline` tells scripts. OPERATIONS.md has the table.
#pragma once

#include "wire/rest/standing.h"

namespace slackline::cli {

// The command worked, and the answer is no: blocked or late, findings in a file or a cluster.
inline constexpr int kAnswerIsNo = 1;
inline constexpr int kWrongUsage = 2;
// The command failed: no daemon, one that is not ready, no such object, no permission, a file or a
// cluster that cannot be read.
inline constexpr int kFailure = 3;
inline constexpr int kTooLittleData = 4;  // nothing is known from which to answer

constexpr int exit_code_of(wire::Standing standing) {
  switch (standing) {
    case wire::Standing::kInTime:
      return 0;
    case wire::Standing::kUnknown:
      return kTooLittleData;
    case wire::Standing::kTooLate:
      return kAnswerIsNo;
  }
  return kFailure;
}

}  // namespace slackline::cli
