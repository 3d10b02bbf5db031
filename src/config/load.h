// Reading a SlacklineConfiguration (F37).
//
// All problems of a file are reported together: an unknown key with the allowed ones, a duplicate
// key, a wrong type, a value out of range, a duplicate GPU type. A missing key has its default; a
// list replaces the default list as a whole.
#pragma once

#include <string>
#include <string_view>

#include "config/configuration.h"
#include "config/finding.h"
#include "slackline/base/result.h"

namespace slackline::config {

struct Loaded {
  Configuration configuration;  // usable only without errors
  Findings findings;            // by line
};

// `folder` is what relative file names in `text` are relative to; empty leaves them as they are.
Loaded parse_configuration(std::string_view text, const std::string& folder = {});

// As above from a file, relative to its folder. The error: the file cannot be read.
Result<Loaded> read_configuration(const std::string& file);

// The configuration of a file without errors. The error has one line per finding, each with
// file:line.
Result<Configuration> load_configuration(const std::string& file);

// The whole of a file of at most 4 MiB, for check.
Result<std::string> read_text_file(const std::string& file);

}  // namespace slackline::config
