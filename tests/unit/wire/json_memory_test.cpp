// JSON that does not fit into memory: neither "too large" nor the end of the process.
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <sys/resource.h>
#include <unistd.h>

#include "wire/format/json_view.h"

namespace slackline::wire {
namespace {

TEST(JsonMemory, ItsLackIsSaid) {
#ifdef SLACKLINE_SANITIZED
  GTEST_SKIP() << "sanitizers need more address space than this test leaves";
#endif
  const std::string json = "[" + std::string(std::size_t{200} << 20, ' ') + "]";
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  rlimit all{};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &all), 0);
  const auto used = pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const rlimit tight{used + (std::size_t{32} << 20), all.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_AS, &tight), 0);
  JsonDocument document;
  const auto parsed = document.parse(json);
  setrlimit(RLIMIT_AS, &all);
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().code, ErrorCode::kResourceExhausted);
  EXPECT_THAT(parsed.error().message, ::testing::HasSubstr("not enough memory"));
  EXPECT_TRUE(document.parse("[1]")) << "and it goes on";
}

}  // namespace
}  // namespace slackline::wire
