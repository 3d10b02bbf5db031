// The workload profiles in force: those shipped inside the binary, then the configured files, whose
// entries win over earlier ones of the same model and GPU type.
#pragma once

#include <string>
#include <vector>

#include "slackline/base/result.h"
#include "slackline/model/workload.h"

namespace slackline::config {

// An additional check of a file's entries; its error names the file.
using CheckEntries = Status (*)(const std::vector<ProfileEntry>& entries, const std::string& file);

// `patterns`: files or globs; one that matches nothing is an error that names it. control's
// load_profiles() knows which coefficients are valid.
Result<WorkloadProfiles> load_profiles(const std::vector<std::string>& patterns,
                                       CheckEntries check = nullptr);

}  // namespace slackline::config
