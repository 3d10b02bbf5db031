#include "cli/files.h"

#include <fstream>
#include <sstream>

#include "slackline/base/text.h"

namespace slackline::cli {

Result<std::string> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf()))
    return fail(ErrorCode::kNotFound, format("cannot read {}", path));
  return text.str();
}

Status write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  if (!file || !(file << text) || !file.flush())
    return fail(ErrorCode::kUnavailable, format("cannot write {}", path));
  return {};
}

}  // namespace slackline::cli
