#include "store/store_lock.h"

#include <cerrno>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "slackline/base/text.h"

namespace slackline::store {
namespace {

// "process 4711", or as much as is known.
std::string holder_of(int file) {
  char text[24];
  const ssize_t size = ::pread(file, text, sizeof text, 0);
  const std::string pid(
      trim(std::string_view(text, size > 0 ? static_cast<std::size_t>(size) : 0)));
  return parse_int(pid) ? "process " + pid : "another process";
}

}  // namespace

Result<StoreLock> StoreLock::take(const std::string& path) {
  const std::string name = path + ".lock";
  const int file = ::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0)
    return fail(ErrorCode::kForbidden, format("the lock file {} cannot be created: {}", name,
                                              std::generic_category().message(errno)));
  StoreLock lock(file);
  if (::flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    return fail(ErrorCode::kConflict,
                format("the store {} is in use by {}: end that daemon, or give this one a store of "
                       "its own (--store, or store.path in the configuration)",
                       path, holder_of(file)));
  const std::string pid = format("{}\n", ::getpid());
  // For people only: without it the lock holds as well.
  if (::ftruncate(file, 0) == 0) static_cast<void>(::pwrite(file, pid.data(), pid.size(), 0) > 0);
  return lock;
}

StoreLock::StoreLock(StoreLock&& other) noexcept : file_(std::exchange(other.file_, -1)) {}

StoreLock& StoreLock::operator=(StoreLock&& other) noexcept {
  std::swap(file_, other.file_);
  return *this;
}

StoreLock::~StoreLock() {
  if (file_ >= 0) ::close(file_);
}

}  // namespace slackline::store
