// Profiles that can be predicted with: the shape of the files is wire's and config's business, what
// the coefficients mean is core's.
//
// Errors name file, entry and what is allowed: an entry that is passed over in silence would be
// answered for by some other model of the family.
#pragma once

#include <string>
#include <vector>

#include "slackline/base/result.h"
#include "slackline/model/workload.h"

namespace slackline::control {

Status check_entries(const std::vector<ProfileEntry>& entries, const std::string& file);

// The shipped ones and those that match the patterns (config/profile_files.h), checked.
Result<WorkloadProfiles> load_profiles(const std::vector<std::string>& patterns);

}  // namespace slackline::control
