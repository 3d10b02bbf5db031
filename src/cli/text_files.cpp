#include "cli/text_files.h"

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "cli/exit_codes.h"
#include "config/load.h"
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

Result<PartOfFile> read_part_of_file(const std::string& argument) {
  PartOfFile file{argument, "", ""};
  const std::size_t colon = argument.rfind(':');
  std::error_code ignored;
  if (colon != std::string::npos && !std::filesystem::exists(argument, ignored)) {
    file.path = argument.substr(0, colon);
    file.part = argument.substr(colon + 1);
  }
  SLACKLINE_ASSIGN(file.text, config::read_text_file(file.path));
  return file;
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
