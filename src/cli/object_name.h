// Names of objects as the configuration writes them.
#pragma once

#include <string>

#include "slackline/model/ids.h"

namespace slackline::cli {

// "NAMESPACE/NAME", as the configuration was checked. Empty if `text` is.
inline ObjectKey key_of(const std::string& text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string::npos) return {};
  return {text.substr(0, slash), text.substr(slash + 1)};
}

}  // namespace slackline::cli
