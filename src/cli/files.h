// Whole files, for subcommands.
#pragma once

#include <string>

#include "slackline/base/result.h"

namespace slackline::cli {

Result<std::string> read_file(const std::string& path);
Status write_file(const std::string& path, const std::string& text);

}  // namespace slackline::cli
