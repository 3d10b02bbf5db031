#include "control/learn/profiles.h"

#include "config/profile_files.h"
#include "slackline/base/text.h"
#include "slackline/core/throughput/throughput.h"

namespace slackline::control {

Status check_entries(const std::vector<ProfileEntry>& entries, const std::string& file) {
  for (const ProfileEntry& entry : entries)
    if (const std::string why = core::why_unusable(entry.coefficients); !why.empty())
      return fail(ErrorCode::kInvalidArgument,
                  format("{}: the entry of {} on {}: coefficients: {}", file,
                         printable(entry.model, 64), printable(entry.gpu_type.str(), 64), why));
  return {};
}

Result<WorkloadProfiles> load_profiles(const std::vector<std::string>& patterns) {
  return config::load_profiles(patterns, check_entries);
}

}  // namespace slackline::control
