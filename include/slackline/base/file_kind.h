// What is at a path, through all symbolic links. Whoever makes, replaces, removes or gives a mode
// to a file asks here first: Slackline does so only to regular files.
#pragma once

#include <string>
#include <string_view>

namespace slackline {

// In place of the path of a store: it lives in memory, and no file is written.
inline constexpr std::string_view kNoFile = "none";

enum class FileKind {
  kNothing,
  kRegular,
  kFolder,
  kCharacterDevice,
  kBlockDevice,
  kFifo,
  kSocket,
  kDanglingLink,  // a symbolic link to nothing, or in a circle
  kUnknown,
};

// Nothing also where it cannot be looked at: opening it says why.
FileKind file_kind(const std::string& path);

// True for what may become a regular file, or is one.
bool is_or_becomes_regular(FileKind kind);

// "a character device"
std::string_view to_string(FileKind kind);

}  // namespace slackline
