// The name under which this process was called. main() sets it before anything else.
#pragma once

#include <string>
#include <string_view>

#include "client/program.h"

namespace slackline::cli {

inline client::CalledAs called_as = client::CalledAs::kSlackline;

inline bool is_plugin() {
  return called_as != client::CalledAs::kSlackline;
}

inline std::string program() {
  return std::string(client::program_name(called_as));
}

}  // namespace slackline::cli
