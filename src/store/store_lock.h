// StoreLock: at most one daemon per store. Each of two would trust its own memory of the file.
//
// An OS lock (flock) on PATH.lock next to the database, with the holder's pid in the file; it ends
// with the process, however that ends. On a file system without locks nothing is locked.
#pragma once

#include <string>

#include "slackline/base/result.h"

namespace slackline::store {

class StoreLock {
 public:
  // Never waits. kConflict: another process has it; the message names the store, the pid and the
  // remedy. kForbidden: the lock file cannot be made (full or read-only disk); the message says
  // why.
  static Result<StoreLock> take(const std::string& path);

  StoreLock(StoreLock&& other) noexcept;
  StoreLock& operator=(StoreLock&& other) noexcept;
  ~StoreLock();  // gives it back; the file stays

 private:
  explicit StoreLock(int file) : file_(file) {}
  int file_;
};

}  // namespace slackline::store
