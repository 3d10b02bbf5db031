#include "slackline/base/file_kind.h"

#include <fstream>
#include <map>

#include <gmock/gmock.h>

#include "support/special_files.h"

namespace slackline {
namespace {

TEST(FileKindTest, LooksThroughLinksAndSaysWhatIsThere) {
  const test::TemporaryFolder folder;
  const std::vector<std::string> names = test::make_special_files(folder);
  const std::string before = test::listing(folder);
  const std::map<std::string, std::string> words = {{"folder", "a folder"},
                                                    {"fifo", "a FIFO"},
                                                    {"socket", "a socket"},
                                                    {"null", "a character device"},
                                                    {"disk", "a block device"}};
  for (const std::string& name : names) {
    const FileKind kind = file_kind(folder.file(name));
    EXPECT_EQ(to_string(kind), words.at(name.substr(name.rfind('-') + 1))) << name;
    EXPECT_FALSE(is_or_becomes_regular(kind)) << name;
  }
  EXPECT_EQ(test::listing(folder), before);
}

TEST(FileKindTest, ARegularFileAndWhatMayBecomeOne) {
  const test::TemporaryFolder folder;
  std::ofstream(folder.file("file")) << "x";
  ASSERT_EQ(::symlink(folder.file("file").c_str(), folder.file("link").c_str()), 0);
  ASSERT_EQ(::symlink(folder.file("absent").c_str(), folder.file("dangling").c_str()), 0);
  ASSERT_EQ(::symlink(folder.file("circle").c_str(), folder.file("circle").c_str()), 0);
  EXPECT_EQ(file_kind(folder.file("file")), FileKind::kRegular);
  EXPECT_EQ(file_kind(folder.file("link")), FileKind::kRegular);
  EXPECT_EQ(file_kind(folder.file("absent")), FileKind::kNothing);
  EXPECT_EQ(file_kind(folder.file("dangling")), FileKind::kDanglingLink);
  EXPECT_EQ(file_kind(folder.file("circle")), FileKind::kDanglingLink);
  for (const char* name : {"file", "link", "absent", "dangling"})
    EXPECT_TRUE(is_or_becomes_regular(file_kind(folder.file(name)))) << name;
}

}  // namespace
}  // namespace slackline
