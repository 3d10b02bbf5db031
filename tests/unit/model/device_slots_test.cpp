#include "slackline/model/device_slots.h"

#include <gtest/gtest.h>

namespace slackline {
namespace {

TEST(DeviceSlots, AreWrittenAndReadByResource) {
  const std::vector<DeviceSlots> two = {{"example.com/share", {0, 1}},
                                        {"other.example/share", {3}}};
  EXPECT_EQ(device_ids_text(two), "example.com/share=0,1;other.example/share=3");
  EXPECT_EQ(parse_device_ids(device_ids_text(two)).value(), two);
  const std::vector<DeviceSlots> one = {{"example.com/share", {4095}}};
  EXPECT_EQ(device_ids_text(one), "example.com/share=4095");
  EXPECT_EQ(parse_device_ids(device_ids_text(one)).value(), one);
}

TEST(DeviceSlots, RefuseWhatWeWouldNotWrite) {
  for (const char* text : {"", "0,1", "=0", "a=", "a=x", "a=-1", "a=4096", "a=1,0", "a=1,1", "a=0,",
                           "a=0;", "a=0;a=1", "a=99999999999999999999"})
    EXPECT_FALSE(parse_device_ids(text)) << text;
}

}  // namespace
}  // namespace slackline
