// Files that a command writes. (config::read_text_file reads them.)
#pragma once

#include <string>
#include <string_view>

#include "slackline/base/result.h"

namespace slackline::cli {

// The whole text, or an error that names the file.
Status write_text_file(const std::string& path, std::string_view text);

// Prints "slackline: MESSAGE" to stderr; the exit code.
int report_failure(const Error& error);

// As report_failure(). kNotFound means that the data from which to answer is missing.
int report_unanswered(const Error& error);

}  // namespace slackline::cli
