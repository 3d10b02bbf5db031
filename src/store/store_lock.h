// StoreLock: one daemon to a store. Two of them would each believe what it remembers of the file.
//
// An OS lock (flock) on PATH.lock beside the database, in which the holder's pid is written; it
// goes with the process, however that ends. Where the file system knows no locks nothing is locked.
#pragma once

#include <string>

#include "slackline/base/result.h"

namespace slackline::store {

class StoreLock {
 public:
  // Never waits. kConflict: somebody has it; the message names the store, the pid and the remedy.
  // kForbidden: the lock file cannot be made (full or read-only disk); the message says why.
  static Result<StoreLock> take(const std::string& path);

  StoreLock(StoreLock&& other) noexcept;
  StoreLock& operator=(StoreLock&& other) noexcept;
  ~StoreLock();  // gives it back; the file stays

 private:
  explicit StoreLock(int file) : file_(file) {}
  int file_;
};

}  // namespace slackline::store
