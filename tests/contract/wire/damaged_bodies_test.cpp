// Property: whatever happens to a valid body on its way, a decoder answers with a value or an
// Error; it never crashes, and a cut one is never taken for whole.
#include <algorithm>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "contract/wire/bodies.h"
#include "wire/extender/extender_codec.h"
#include "wire/kube/kube_decode.h"

namespace slackline::wire {
namespace {

std::string watch_body() {
  return R"({"type":"MODIFIED","object":)" + pod_document() + "}";
}

std::string list_body() {
  return R"({"kind":"NodeList","metadata":{"resourceVersion":"5"},"items":[)" + node_document("a") +
         "," + node_document("b") + "]}";
}

// True when the body was decoded; every decoder is used to its end, replies included.
bool survives(ExtenderCodec& codec, KubeDecoder& decoder, int which, const std::string& body) {
  switch (which) {
    case 0:
    case 1: {
      const auto decoded = codec.decode_nodes(body);
      if (!decoded) return false;
      FilterReply reply;
      reply.verdicts.assign(decoded->request.node_names.size(), Verdict::kPass);
      if (decoded->refusal.empty()) codec.encode_filter(decoded->request, reply);
      return true;
    }
    case 2:
      return codec.decode_preempt(body).has_value();
    case 3:
      return codec.decode_bind(body).has_value();
    case 4:
      return decoder.watch_frame(KubeKind::kPod, body).has_value();
    default:
      return decoder.list(KubeKind::kNode, body).has_value();
  }
}

class DamagedBodies : public testing::TestWithParam<int> {
 protected:
  static std::string body() {
    switch (GetParam()) {
      case 0:
        return names_body();
      case 1:
        return full_body();
      case 2:
        return preempt_body();
      case 3:
        return bind_body();
      case 4:
        return watch_body();
      default:
        return list_body();
    }
  }
  bool survives(const std::string& text) {
    return wire::survives(codec_, decoder_, GetParam(), text);
  }

  ExtenderCodec codec_{default_gpu_catalog()};
  KubeDecoder decoder_{default_gpu_catalog()};
};

TEST_P(DamagedBodies, WholeItDecodes) {
  EXPECT_TRUE(survives(body()));
}

TEST_P(DamagedBodies, CutAnywhereItIsAnError) {
  const std::string whole = body();
  for (std::size_t length = 0; length < whole.size(); ++length)
    ASSERT_FALSE(survives(whole.substr(0, length))) << "cut at " << length;
}

TEST_P(DamagedBodies, EveryByteMayFlip) {
  const std::string whole = body();
  for (std::size_t at = 0; at < whole.size(); ++at)
    for (const int mask : {0x01, 0x02, 0x20, 0x80}) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ mask);
      survives(damaged);
    }
  EXPECT_TRUE(survives(whole)) << "the decoder still works after all that";
}

TEST_P(DamagedBodies, PiecesMayBeLostOrRepeated) {
  const std::string whole = body();
  std::mt19937 random(20261121);  // NOLINT: the same bodies in every run
  std::uniform_int_distribution<std::size_t> place(0, whole.size());
  for (int round = 0; round < 2000; ++round) {
    const auto [from, to] = std::minmax({place(random), place(random)});
    std::string damaged = whole;
    if (round % 2 == 0)
      damaged.erase(from, to - from);
    else
      damaged.insert(place(random), whole.substr(from, to - from));
    survives(damaged);
  }
  EXPECT_TRUE(survives(whole));
}

std::string body_name(const testing::TestParamInfo<int>& which) {
  constexpr const char* kNames[] = {"Names", "Full", "Preempt", "Bind", "Watch", "List"};
  return kNames[which.param];
}

INSTANTIATE_TEST_SUITE_P(Bodies, DamagedBodies, testing::Range(0, 6), body_name);

}  // namespace
}  // namespace slackline::wire
