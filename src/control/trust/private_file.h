// A file that only we may read, replaced whole.
#pragma once

#include <string>

#include "slackline/base/result.h"

namespace slackline::control {

// Mode 0600, by a new file FILE.new that takes its place: a link or a file that somebody left at
// that name is never written to. A device, FIFO, socket or folder there is refused. On an error the
// old file stays as it is.
Status replace_private_file(const std::string& file, const std::string& content);

}  // namespace slackline::control
