#include "obs/log.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <string>
#include <thread>

#include <gtest/gtest.h>

namespace slackline::obs {
namespace {

// What one call writes to stderr, without the time stamp, which differs every time.
std::string logged(bool json, LogLevel level, std::string_view event,
                   std::initializer_list<Field> fields) {
  testing::internal::CaptureStderr();
  configure_log(LogLevel::kInfo, json);
  log(level, event, fields);
  const std::string line = testing::internal::GetCapturedStderr();
  const std::size_t start = line.find("level");
  return start == std::string::npos ? line : line.substr(start);
}

TEST(Log, WritesOneLineOfKeysAndValues) {
  EXPECT_EQ(logged(false, LogLevel::kInfo, "bound",
                   {{"pod", "ns/a"}, {"gpus", std::int64_t{4}}, {"ms", 1.5}, {"ok", true}}),
            "level=info event=bound pod=ns/a gpus=4 ms=1.5 ok=true\n");
}

TEST(Log, QuotesValuesThatAreNotOneWord) {
  EXPECT_EQ(logged(false, LogLevel::kWarning, "odd",
                   {{"a", "two words"}, {"b", "k=v"}, {"c", R"(say "hi")"}, {"d", ""}}),
            "level=warning event=odd a=\"two words\" b=\"k=v\" c=\"say \\\"hi\\\"\" d=\"\"\n");
}

TEST(Log, KeepsAForeignNewlineAndColourOnOneLine) {
  const std::string line =
      logged(false, LogLevel::kInfo, "pod", {{"name", "a\nlevel=error event=fake\x1b[31m"}});
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  EXPECT_EQ(line.find('\x1b'), std::string::npos);
}

TEST(Log, NeutralisesEightBitTerminalControlsAndBrokenUtf8) {
  const std::string line = logged(false, LogLevel::kInfo, "pod",
                                  {{"csi", "\xc2\x9b"}, {"bad", "\xff\xfe"}, {"ok", "é"}});
  EXPECT_EQ(line.find("\xc2\x9b"), std::string::npos);
  EXPECT_EQ(line.find('\xff'), std::string::npos);
  EXPECT_NE(line.find("é"), std::string::npos);
}

TEST(Log, CutsAMegabyteOfForeignText) {
  const std::string huge(1 << 20, 'x');
  EXPECT_LT(logged(false, LogLevel::kInfo, "pod", {{"annotation", huge}}).size(), 400U);
}

TEST(Log, WritesJsonThatNothingCanBreakOutOf) {
  EXPECT_EQ(logged(true, LogLevel::kError, "broken",
                   {{"text", "a\"},{\n\\"}, {"n", std::int64_t{-1}}, {"ok", false}}),
            "level\":\"error\",\"event\":\"broken\",\"text\":\"a\\\"},{\\\\x0a\\\\\",\"n\":-1,"
            "\"ok\":false}\n");
}

TEST(Log, QuotesNumbersThatJsonDoesNotHave) {
  const std::string line = logged(true, LogLevel::kInfo, "n",
                                  {{"x", std::numeric_limits<double>::infinity()},
                                   {"y", std::numeric_limits<double>::quiet_NaN()}});
  EXPECT_NE(line.find(R"("x":"inf","y":"nan")"), std::string::npos) << line;
}

std::size_t lines(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

TEST(Log, AFloodOfOneWarningIsCutAndItsLengthTold) {
  configure_log(LogLevel::kInfo, false, 0.2);
  testing::internal::CaptureStderr();
  for (int i = 0; i < 1000; ++i)
    log_warning("bad_request", {{"number", std::int64_t{i}}});
  EXPECT_EQ(lines(testing::internal::GetCapturedStderr()), 10U);
  std::this_thread::sleep_for(std::chrono::milliseconds(250));
  testing::internal::CaptureStderr();
  log_warning("bad_request");
  log_warning("bad_request");
  const std::string later = testing::internal::GetCapturedStderr();
  EXPECT_NE(later.find("event=bad_request left_out=990\n"), std::string::npos) << later;
  EXPECT_EQ(lines(later), 2U);
  EXPECT_EQ(later.find("left_out"), later.rfind("left_out")) << "told once";
}

TEST(Log, AFloodHidesNoOtherEventAndNoInformation) {
  configure_log(LogLevel::kInfo, false);
  testing::internal::CaptureStderr();
  for (int i = 0; i < 1000; ++i) {
    log_error("flood");
    log_info("bound");
  }
  log_error("disk_full");
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_EQ(lines(text), 1011U);
  EXPECT_NE(text.find("event=disk_full"), std::string::npos);
}

TEST(Log, DropsWhatIsBelowTheLevel) {
  EXPECT_EQ(logged(false, LogLevel::kDebug, "noise", {}), "");
}

}  // namespace
}  // namespace slackline::obs
