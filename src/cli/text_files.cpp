#include "cli/text_files.h"

#include <cerrno>
#include <cstdio>
#include <fstream>
#include <system_error>

#include "cli/exit_codes.h"
#include "slackline/base/text.h"

namespace slackline::cli {

Status write_text_file(const std::string& path, std::string_view text) {
  std::ofstream file(path, std::ios::binary);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  file.close();
  if (!file)
    return fail(ErrorCode::kUnavailable,
                format("cannot write {}: {}", path, std::generic_category().message(errno)));
  return {};
}

int report_failure(const Error& error) {
  std::fprintf(stderr, "slackline: %s\n", error.message.c_str());
  return kFailure;
}

int report_unanswered(const Error& error) {
  const int failed = report_failure(error);
  return error.code == ErrorCode::kNotFound ? kTooLittleData : failed;
}

}  // namespace slackline::cli
