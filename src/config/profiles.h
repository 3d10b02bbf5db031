// The workload profiles in force: those shipped inside the binary, then the configured files, whose
// entries win over earlier ones of the same model and GPU type.
#pragma once

#include <string>
#include <vector>

#include "slackline/base/result.h"
#include "slackline/model/workload.h"

namespace slackline::config {

// `patterns`: files or globs; one that matches nothing is an error that names it.
Result<WorkloadProfiles> load_profiles(const std::vector<std::string>& patterns);

}  // namespace slackline::config
