#include "wire/kube/admitted_codec.h"

#include <gtest/gtest.h>

namespace slackline::wire {
namespace {

const AdmittedNote kNote{"jane \"j\"", QosClass::kUrgent, "vision", "00ff", "bWFj"};

TEST(AdmittedCodec, WhatIsWrittenIsReadAgain) {
  EXPECT_EQ(
      encode_admitted(kNote),
      R"({"submitter":"jane \"j\"","class":"urgent","queue":"vision","nonce":"00ff","mac":"bWFj"})");
  const auto read = read_admitted(encode_admitted(kNote));
  ASSERT_TRUE(read);
  EXPECT_EQ(*read, kNote);
}

TEST(AdmittedCodec, WhatIsNoneIsAnError) {
  for (const char* text : {"", "x", "[]", "{}", R"({"class":"asap","nonce":"1","mac":"1"})",
                           R"({"class":"normal","mac":"1"})", R"({"class":"normal","nonce":"1"})"})
    EXPECT_FALSE(read_admitted(text)) << text;
  AdmittedNote long_nonce = kNote;
  long_nonce.nonce = std::string(65, 'a');
  EXPECT_FALSE(read_admitted(encode_admitted(long_nonce)));
  AdmittedNote long_name = kNote;
  long_name.submitter = std::string(9000, 'a');
  EXPECT_FALSE(read_admitted(encode_admitted(long_name)));
}

}  // namespace
}  // namespace slackline::wire
