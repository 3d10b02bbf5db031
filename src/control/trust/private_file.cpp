#include "control/trust/private_file.h"

#include <cerrno>
#include <cstdio>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

#include "slackline/base/file_kind.h"
#include "slackline/base/text.h"

namespace slackline::control {
namespace {

Status system_failure(std::string_view doing, const std::string& file) {
  return fail(ErrorCode::kUnavailable,
              format("{} {}: {}", doing, file, std::generic_category().message(errno)));
}

bool write_all(int fd, std::string_view content) {
  while (!content.empty()) {
    const ssize_t written = write(fd, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

Status replace_private_file(const std::string& file, const std::string& content) {
  const std::string draft = file + ".new";
  for (const std::string& path : {file, draft})
    if (const FileKind kind = file_kind(path); !is_or_becomes_regular(kind))
      return fail(
          ErrorCode::kInvalidArgument,
          format("{} is {}, and was left as it is: move it away, or set another store path, "
                 "next to which this file is made",
                 path, to_string(kind)));
  if (unlink(draft.c_str()) != 0 && errno != ENOENT) return system_failure("removing", draft);
  const int fd = open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd < 0) return system_failure("creating", draft);
  const bool written = write_all(fd, content);
  const bool closed = close(fd) == 0;
  if (!written || !closed) return system_failure("writing", draft);
  if (std::rename(draft.c_str(), file.c_str()) != 0) return system_failure("replacing", file);
  return {};
}

}  // namespace slackline::control
