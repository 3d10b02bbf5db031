#include "store/store_lock.h"

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "slackline/base/file_kind.h"
#include "slackline/base/text.h"
#include "store/database.h"

namespace slackline::store {
namespace {

// The pid of the last holder; empty in a new file.
std::string content_of(int file) {
  char text[24];
  const ssize_t size = ::pread(file, text, sizeof text, 0);
  return std::string(trim(std::string_view(text, size > 0 ? static_cast<std::size_t>(size) : 0)));
}

// Next to the file itself: whoever names it by a symbolic link meets the same lock.
std::string file_of(const std::string& path) {
  std::error_code error;
  const auto resolved = std::filesystem::weakly_canonical(path, error);
  return (error ? path : resolved.string()) + ".lock";
}

}  // namespace

Result<StoreLock> StoreLock::take(const std::string& path) {
  const std::string name = file_of(path);
  if (const FileKind kind = file_kind(name); !is_or_becomes_regular(kind))
    return fail(
        ErrorCode::kForbidden,
        format("the lock file {} cannot be created: that is {}; move it away, or set another "
               "store path",
               name, to_string(kind)));
  constexpr int kFlags = O_RDWR | O_CLOEXEC | O_NOFOLLOW;
  int file = ::open(name.c_str(), kFlags | O_CREAT | O_EXCL, 0600);
  const bool found = file < 0 && errno == EEXIST;
  if (found) file = ::open(name.c_str(), kFlags);
  if (file < 0)
    return fail(ErrorCode::kForbidden, format("the lock file {} cannot be created: {}", name,
                                              std::generic_category().message(errno)));
  StoreLock lock(file, found);
  const std::string holder = content_of(file);
  if (!holder.empty() && !parse_int(holder))
    return fail(ErrorCode::kInvalidArgument,
                format("{}, where the lock of the store {} would be, is a file of another program; "
                       "it was left untouched; set another store path",
                       name, path));
  if (::flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    return fail(ErrorCode::kConflict,
                format("the store {} is in use by {}: end that daemon, or give this one a store of "
                       "its own (--store, or store.path in the configuration)",
                       path, holder.empty() ? "another process" : "process " + holder));
  const std::string pid = format("{}\n", ::getpid());
  // For people only: without it the lock holds as well.
  if (::ftruncate(file, 0) == 0) static_cast<void>(::pwrite(file, pid.data(), pid.size(), 0) > 0);
  return lock;
}

StoreLock::StoreLock(StoreLock&& other) noexcept
    : file_(std::exchange(other.file_, -1)), used_before_(other.used_before_) {}

StoreLock& StoreLock::operator=(StoreLock&& other) noexcept {
  std::swap(file_, other.file_);
  std::swap(used_before_, other.used_before_);
  return *this;
}

StoreLock::~StoreLock() {
  if (file_ >= 0) ::close(file_);
}

Status open_locked(std::optional<StoreLock>& lock, const std::string& path,
                   const std::function<Status(bool used_before)>& open) {
  if (in_memory(path)) return open(false);
  if (!lock) {
    SLACKLINE_TRY(check_place(path));
    SLACKLINE_ASSIGN(lock, StoreLock::take(path));
  }
  Status opened = open(lock->used_before());
  if (opened) {
    lock->note_use();
  } else if (opened.error().code == ErrorCode::kInvalidArgument && !lock->used_before()) {
    static_cast<void>(::unlink(file_of(path).c_str()));
    lock.reset();
  }
  return opened;
}

}  // namespace slackline::store
