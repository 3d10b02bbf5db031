#include "slackline/base/words.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace slackline {
namespace {

// Names that differ in each byte, and in length only.
std::vector<std::string> names_around(std::size_t length) {
  const std::string name(length, 'n');
  std::vector<std::string> names{name, name + "n", name + '\0', name + "-longer-by-a-word"};
  for (std::size_t at = 0; at < length; ++at)
    for (const char other : {'a', 'z', '\x7f', '\x80', '\0'}) {
      names.push_back(name);
      names.back()[at] = other;
    }
  return names;
}

TEST(Words, CompareAsStringsDo) {
  for (std::size_t length = 0; length <= 26; ++length) {
    const std::vector<std::string> names = names_around(length);
    for (const std::string& a : names)
      for (const std::string& b : names)
        ASSERT_EQ(same_name(a, b), a == b) << a << " and " << b;
  }
}

}  // namespace
}  // namespace slackline
