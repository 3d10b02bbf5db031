// What Slackline must never touch: a folder, a FIFO, a socket, devices, and symbolic links to them.
#pragma once

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>

#include "slackline/base/text.h"
#include "support/temporary_folder.h"

namespace slackline::test {

inline void make_socket(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  ASSERT_LT(path.size(), sizeof address.sun_path);
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
  EXPECT_EQ(::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ::close(socket);
}

// Makes one of each kind in the folder; the names of all. Devices only where the user may make them
// (root): the first is a /dev/null of the test's own.
inline std::vector<std::string> make_special_files(const TemporaryFolder& folder) {
  std::vector<std::string> names = {"folder", "fifo", "socket"};
  std::filesystem::create_directory(folder.file("folder"));
  EXPECT_EQ(::mkfifo(folder.file("fifo").c_str(), 0666), 0);
  make_socket(folder.file("socket"));
  if (::mknod(folder.file("null").c_str(), S_IFCHR | 0666, makedev(1, 3)) == 0)
    names.emplace_back("null");
  if (::mknod(folder.file("disk").c_str(), S_IFBLK | 0660, makedev(250, 77)) == 0)
    names.emplace_back("disk");
  for (std::size_t i = 0, kinds = names.size(); i < kinds; ++i) {
    ::chmod(folder.file(names[i]).c_str(), 0666);
    const std::string link = "link-to-" + names[i];
    EXPECT_EQ(::symlink(folder.file(names[i]).c_str(), folder.file(link).c_str()), 0);
    names.push_back(link);
  }
  return names;
}

// Everything in the folder, a line each: name, type and mode, owner, inode, device, size.
inline std::string listing(const TemporaryFolder& folder) {
  std::vector<std::string> lines;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    struct stat file{};
    EXPECT_EQ(::lstat(entry.path().c_str(), &file), 0);
    lines.push_back(format("{} {:o} {}:{} {} {} {}\n", entry.path().filename().string(),
                           file.st_mode, file.st_uid, file.st_gid, file.st_ino, file.st_rdev,
                           S_ISDIR(file.st_mode) ? 0 : file.st_size));
  }
  std::sort(lines.begin(), lines.end());
  return join(lines, "");
}

}  // namespace slackline::test
