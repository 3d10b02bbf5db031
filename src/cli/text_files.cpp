#include "cli/text_files.h"

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "cli/commands.h"
#include "slackline/base/text.h"

namespace slackline::cli {

Status write_text_file(const std::string& path, std::string_view text) {
  // A device or a pipe, such as /dev/stdout, is written as it stands.
  std::error_code error;
  const bool in_place = std::filesystem::exists(path, error) &&
                        !std::filesystem::is_regular_file(path, error);
  const std::string target = in_place ? path : path + ".new";
  std::ofstream file(target, std::ios::binary);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  file.close();
  if (!file) return fail(ErrorCode::kUnavailable, format("cannot write {}", target));
  if (!in_place) std::filesystem::rename(target, path, error);
  if (error)
    return fail(ErrorCode::kUnavailable, format("cannot write {}: {}", path, error.message()));
  return {};
}

int report_failure(const Error& error) {
  std::fprintf(stderr, "slackline: %s\n", error.message.c_str());
  return kFailure;
}

}  // namespace slackline::cli
