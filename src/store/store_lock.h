// StoreLock: at most one daemon per store. Each of two would trust its own memory of the file.
//
// An OS lock (flock) on PATH.lock next to the database (of a symbolic link: next to what it leads
// to), with the holder's pid in the file; it ends with the process, however that ends. On a file
// system without locks nothing is locked.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "slackline/base/result.h"

namespace slackline::store {

class StoreLock {
 public:
  // Never waits. kConflict: another process has it; the message names the store, the pid and the
  // remedy. kForbidden: the lock file cannot be made (full or read-only disk, or something else is
  // there); the message says why. kInvalidArgument: that file is another program's.
  static Result<StoreLock> take(const std::string& path);

  StoreLock(StoreLock&& other) noexcept;
  StoreLock& operator=(StoreLock&& other) noexcept;
  ~StoreLock();  // gives it back; the file stays

  // A store was opened under this lock, or under the lock file as it was found.
  bool used_before() const { return used_before_; }
  void note_use() { used_before_ = true; }

 private:
  StoreLock(int file, bool found) : file_(file), used_before_(found) {}
  int file_;
  bool used_before_;
};

// Opens a store under `lock`, which is taken first if there is none; `open` is told whether a
// Slackline used the path before. Where the path is refused, no lock file is left that was not
// there. A store in memory needs none.
Status open_locked(std::optional<StoreLock>& lock, const std::string& path,
                   const std::function<Status(bool used_before)>& open);

}  // namespace slackline::store
