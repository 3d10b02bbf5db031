#include "cli/text_files.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/called.h"
#include "cli/exit_codes.h"
#include "config/load.h"
#include "slackline/base/file_kind.h"
#include "slackline/base/text.h"

namespace slackline::cli {

namespace {

// Standard output or error where the path leads to the same file: /dev/stdout of `> FILE`. Opened
// anew it would be written over from its beginning.
FILE* standard_stream_at(const std::string& path) {
  struct stat wanted{};
  if (::stat(path.c_str(), &wanted) != 0) return nullptr;
  for (FILE* stream : {stdout, stderr}) {
    struct stat open{};
    if (::fstat(::fileno(stream), &open) == 0 && open.st_dev == wanted.st_dev &&
        open.st_ino == wanted.st_ino)
      return stream;
  }
  return nullptr;
}

// A device or a FIFO is only written to.
FILE* open_to_write(const std::string& path) {
  const bool is_file = is_or_becomes_regular(file_kind(path));
  const int kind_flags = is_file ? O_CREAT | O_TRUNC : O_NOCTTY;
  const int file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | kind_flags, 0666);
  return file < 0 ? nullptr : ::fdopen(file, "w");
}

Result<std::string> read_all(FILE* file, const std::string& name, std::size_t most_mib) {
  std::string text;
  std::array<char, 65536> part{};
  while (std::feof(file) == 0 && std::ferror(file) == 0) {
    text.append(part.data(), std::fread(part.data(), 1, part.size(), file));
    if (text.size() > most_mib << 20)
      return fail(ErrorCode::kInvalidArgument, format("{} is longer than {} MiB", name, most_mib));
  }
  if (std::ferror(file) != 0)
    return fail(ErrorCode::kUnavailable, format("{} cannot be read", name));
  return text;
}

// "-": standard input. A FIFO is waited for: who names it, as by <(...), wants that.
Result<std::string> read_stream(const std::string& path, std::size_t most_mib) {
  if (path == "-") return read_all(stdin, "standard input", most_mib);
  FILE* const file = std::fopen(path.c_str(), "rb");
  if (file == nullptr)
    return fail(ErrorCode::kUnavailable,
                format("{}: {}", path, std::generic_category().message(errno)));
  Result<std::string> text = read_all(file, path, most_mib);
  (void)std::fclose(file);
  return text;
}

}  // namespace

Status write_text_file(const std::string& path, std::string_view text) {
  FILE* const standard = standard_stream_at(path);
  FILE* const file = standard != nullptr ? standard : open_to_write(path);
  bool written = file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size() &&
                 std::fflush(file) == 0;
  int problem = errno;
  if (file != nullptr && standard == nullptr && std::fclose(file) != 0 && written) {
    problem = errno;
    written = false;
  }
  if (!written)
    return fail(ErrorCode::kUnavailable,
                format("cannot write {}: {}", path, std::generic_category().message(problem)));
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

Result<std::string> read_dump_file(const std::string& path) {
  return read_stream(path, 2048);
}

Result<wire::Manifest> read_manifest_file(const std::string& path) {
  const bool is_stream = path == "-" || file_kind(path) == FileKind::kFifo;
  SLACKLINE_ASSIGN(const std::string text,
                   is_stream ? read_stream(path, 64) : config::read_text_file(path));
  SLACKLINE_ASSIGN(wire::Manifest manifest, wire::split_manifest(text));
  if (!manifest.left_out.empty())
    std::fprintf(stderr, "%s: left out, as they have no pods: %s\n", program().c_str(),
                 join(manifest.left_out, ", ").c_str());
  for (const auto* notes : {&manifest.misplaced, &manifest.not_counted})
    for (const std::string& note : *notes)
      std::fprintf(stderr, "%s: %s\n", program().c_str(), note.c_str());
  return manifest;
}

Status can_be_asked(const wire::ManifestObject& object) {
  if (object.why_not.empty()) return {};
  return fail(ErrorCode::kInvalidArgument, format("{}: {}", object.of, object.why_not));
}

int report_failure(const Error& error) {
  std::fprintf(stderr, "%s: %s\n", program().c_str(), error.message.c_str());
  return kFailure;
}

int report_refusal(const Error& error) {
  const int failed = report_failure(error);
  return error.code == ErrorCode::kInvalidArgument ? kWrongUsage : failed;
}

int report_unanswered(const Error& error) {
  const int failed = report_failure(error);
  return error.code == ErrorCode::kNotFound ? kTooLittleData : failed;
}

int report_refused_or_unanswered(const Error& error) {
  return error.code == ErrorCode::kInvalidArgument ? report_refusal(error)
                                                   : report_unanswered(error);
}

}  // namespace slackline::cli
