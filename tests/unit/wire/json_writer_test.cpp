#include "wire/format/json_writer.h"

#include <cmath>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "wire/format/json_copy.h"
#include "wire/format/json_view.h"

namespace slackline::wire {
namespace {

std::string as_json(std::string_view text) {
  return JsonWriter().string(text).take();
}

TEST(JsonWriter, PlacesCommas) {
  JsonWriter out;
  out.begin_object().field("a", 1).key("b").begin_array().integer(1).begin_object().end_object();
  out.begin_array().end_array().null().end_array().field("c", true).end_object();
  EXPECT_EQ(out.take(), R"({"a":1,"b":[1,{},[],null],"c":true})");
}

TEST(JsonWriter, EscapesWhatJsonDemands) {
  EXPECT_EQ(as_json("plain-name.example"), R"("plain-name.example")");
  EXPECT_EQ(as_json("a\"b\\c\n\t\r"), R"("a\"b\\c\n\t\r")");
  EXPECT_EQ(as_json(std::string_view("\0\x1f", 2)), R"("\u0000\u001f")");
  EXPECT_EQ(as_json("exactly8\"behind"), R"("exactly8\"behind")");
}

TEST(JsonWriter, KeepsUtf8AndReplacesWhatIsNone) {
  EXPECT_EQ(as_json("Grüße 網 😀"), "\"Grüße 網 😀\"");
  EXPECT_EQ(as_json("\xff"), "\"\xEF\xBF\xBD\"");
  EXPECT_EQ(as_json("a\xC3"), "\"a\xEF\xBF\xBD\"") << "cut short";
  EXPECT_EQ(as_json("\xED\xA0\x80"), "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"") << "a surrogate";
  EXPECT_EQ(as_json("\xC0\xAF"), "\"\xEF\xBF\xBD\xEF\xBF\xBD\"") << "overlong";
}

TEST(JsonWriter, NumbersAreShortAndNeverInvalid) {
  JsonWriter out;
  out.begin_array().number(0.1).number(3).number(1e300);
  out.number(std::numeric_limits<double>::infinity()).number(std::nan(""));
  out.integer(std::numeric_limits<std::int64_t>::min()).end_array();
  EXPECT_EQ(out.take(), "[0.1,3,1e+300,null,null,-9223372036854775808]");
}

TEST(JsonWriter, EveryByteStringBecomesJsonThatReadsBack) {
  // All strings of two bytes, and each in the middle of a longer text, across the eight-byte steps.
  for (int first = 0; first < 256; ++first)
    for (int second = 0; second < 256; ++second) {
      const std::string pair{static_cast<char>(first), static_cast<char>(second)};
      for (const std::string& text : {pair, "1234567" + pair + "89abcdefgh"}) {
        const std::string json = as_json(text);
        JsonDocument document;
        const auto read = document.parse(json);
        ASSERT_TRUE(read) << first << ' ' << second << ": " << json;
        if (first < 0x80 && second < 0x80) {
          ASSERT_EQ(read->text(), text);
        }
      }
    }
}

TEST(JsonCopy, IsWhatWasRead) {
  const std::string text = R"({"a":[1,-2.5,"x",true,false,null,{}],"b":{"c":{}}})";
  JsonDocument document;
  JsonWriter out;
  EXPECT_TRUE(copy_json(*document.parse(text), out));
  EXPECT_EQ(out.take(), text);
}

TEST(JsonCopy, LeavesOutMembersAndObjectsThatAreEmptyThen) {
  const auto is_cpu = [](std::string_view key) { return key == "cpu"; };
  JsonDocument document;
  EXPECT_EQ(json_without(*document.parse(
                             R"({"limits":{"cpu":"1"},"requests":{"cpu":1,"gpu":2},"on":false})"),
                         is_cpu),
            R"({"requests":{"gpu":2},"on":false})");
  EXPECT_EQ(json_without(*document.parse(R"({"limits":{"cpu":"1"}})"), is_cpu), "");
  EXPECT_EQ(json_without(JsonView(), {}), "");
}

TEST(JsonCopy, SaysWhatIsTooDeep) {
  const auto nested = [](std::size_t levels) {
    return std::string(levels, '[') + std::string(levels, ']');
  };
  JsonDocument document;
  EXPECT_EQ(json_without(*document.parse(nested(kMaxCopyDepth + 1)), {}),
            nested(kMaxCopyDepth + 1));
  JsonWriter out;
  EXPECT_FALSE(copy_json(*document.parse(nested(kMaxCopyDepth + 2)), out));
  EXPECT_EQ(json_without(*document.parse(nested(kMaxCopyDepth + 2)), {}), "");
}

}  // namespace
}  // namespace slackline::wire
