#include "slackline/base/file_kind.h"

#include <sys/stat.h>

namespace slackline {

FileKind file_kind(const std::string& path) {
  struct stat file{};
  if (::stat(path.c_str(), &file) != 0)
    return ::lstat(path.c_str(), &file) == 0 && S_ISLNK(file.st_mode) ? FileKind::kDanglingLink
                                                                      : FileKind::kNothing;
  switch (file.st_mode & S_IFMT) {
    case S_IFREG:
      return FileKind::kRegular;
    case S_IFDIR:
      return FileKind::kFolder;
    case S_IFCHR:
      return FileKind::kCharacterDevice;
    case S_IFBLK:
      return FileKind::kBlockDevice;
    case S_IFIFO:
      return FileKind::kFifo;
    case S_IFSOCK:
      return FileKind::kSocket;
    default:
      return FileKind::kUnknown;
  }
}

bool is_or_becomes_regular(FileKind kind) {
  return kind == FileKind::kNothing || kind == FileKind::kRegular ||
         kind == FileKind::kDanglingLink;
}

std::string_view to_string(FileKind kind) {
  switch (kind) {
    case FileKind::kNothing:
      return "nothing";
    case FileKind::kRegular:
      return "a regular file";
    case FileKind::kFolder:
      return "a folder";
    case FileKind::kCharacterDevice:
      return "a character device";
    case FileKind::kBlockDevice:
      return "a block device";
    case FileKind::kFifo:
      return "a FIFO";
    case FileKind::kSocket:
      return "a socket";
    case FileKind::kDanglingLink:
      return "a symbolic link to nothing";
    case FileKind::kUnknown:
      break;
  }
  return "of an unknown kind";
}

}  // namespace slackline
