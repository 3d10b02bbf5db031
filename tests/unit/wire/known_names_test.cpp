// What is read by known names is what is read without them, whatever the request looks like.
#include <algorithm>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slackline/base/text.h"
#include "support/node_names.h"
#include "wire/extender/extender_codec.h"

namespace slackline::wire {
namespace {

using ::testing::IsNull;
using ::testing::NotNull;

constexpr int kNodes = 40;

std::string node(int i) {
  return format("gpu-node-{:03}.example", i);
}

std::vector<std::string> all_nodes() {
  std::vector<std::string> names;
  for (int i = 0; i < kNodes; ++i)
    names.push_back(node(i));
  return names;
}

std::shared_ptr<const NodeNames> known_names(const std::string& another = "a") {
  std::vector<std::string> names = all_nodes();
  names.insert(names.begin(), another);
  return test::node_names(names);
}

std::string body_of(const std::vector<std::string>& names) {
  std::string body = R"({"Pod":{"metadata":{"name":"p"}},"Nodes":null,"NodeNames":[)";
  for (std::size_t i = 0; i < names.size(); ++i)
    body += format("{}\"{}\"", i > 0 ? "," : "", names[i]);
  return body + "]}";
}

class KnownNamesTest : public ::testing::Test {
 protected:
  // The request is read the same with and without known names, and so is its answer written.
  NodesRequest read(const std::string& body) {
    const auto with = quick_.decode_nodes(body, known_);
    const auto without = plain_.decode_nodes(body);
    EXPECT_EQ(with.has_value(), without.has_value()) << body;
    if (!with && !without) {
      EXPECT_EQ(with.error().message, without.error().message);
    }
    if (!with || !without) return {};
    EXPECT_EQ(with->refusal, without->refusal) << body;
    EXPECT_EQ(with->request.node_names, without->request.node_names) << body;
    EXPECT_EQ(with->request.pod.key.name, without->request.pod.key.name);
    EXPECT_EQ(with->request.full_objects, without->request.full_objects);
    FilterReply reply;
    for (std::size_t i = 0; i < with->request.node_names.size(); ++i)
      reply.verdicts.push_back(
          static_cast<Verdict>(random_() % 3 == 0 ? random_() % kVerdictCount : 0));
    EXPECT_EQ(quick_.encode_filter(with->request, reply),
              plain_.encode_filter(without->request, reply));
    return with->request;
  }

  std::mt19937 random_{11};
  std::shared_ptr<const NodeNames> known_ = known_names();
  ExtenderCodec quick_{default_gpu_catalog()};
  ExtenderCodec plain_{default_gpu_catalog()};
};

TEST_F(KnownNamesTest, AreReadInAnyOrderEachOnce) {
  for (int round = 0; round < 200; ++round) {
    std::vector<std::string> names = all_nodes();
    std::rotate(names.begin(), names.begin() + random_() % kNodes, names.end());
    if (round % 3 == 1) std::shuffle(names.begin(), names.end(), random_);
    names.resize(random_() % (kNodes + 1));
    for (unsigned again = random_() % 4; again > 0 && !names.empty(); --again)
      names.push_back(names[random_() % names.size()]);
    const NodesRequest request = read(body_of(names));
    ASSERT_EQ(request.known, known_);
    for (std::size_t i = 0; i < request.nodes.size(); ++i)
      ASSERT_EQ(request.node_names[i], known_->at(request.nodes[i]));
  }
}

TEST_F(KnownNamesTest, AreReadWithoutWhereOneIsUnknown) {
  for (const char* unknown : {"gpu-node-001", "gpu-node-001.example.", "GPU-NODE-001.example", "",
                              R"(gpu-node-00\u0031.example)", R"(x\"y)", "[", "a,b"}) {
    std::vector<std::string> names = all_nodes();
    names.insert(names.begin() + 7, unknown);
    EXPECT_THAT(read(body_of(names)).known, IsNull()) << unknown;
  }
}

TEST_F(KnownNamesTest, AreReadWithoutWhereTheBodyIsWrittenAnotherWay) {
  const std::string pod = R"("Pod":{"metadata":{"name":"p"}})";
  for (const std::string& body : {
           "{" + pod + R"(,"NodeNames": ["a"]})",
           "{" + pod + R"(,"NodeNames":["a"] })",
           "{" + pod + R"(,"NodeNames":["a" ]})",
           "{" + pod + R"(,"nodenames":["a"]})",
           "{" + pod + R"(,"NodeNames":["a"],"Nodes":null})",
           "{" + pod + R"(,"NodeNames":["gpu-node-001.example"],"NodeNames":["a"]})",
           "{" + pod + R"(,"nodeNames":[],"NodeNames":["a"]})",
           "{" + pod + R"(,"x\"NodeNames":["a"]})",
           "{" + pod + R"(,"x":{"NodeNames":["a"]}})",
           "{" + pod + R"(,"x":{"NodeNames":["a"]})",
           "{" + pod + R"(,"NodeNames":["a",]})",
           "{" + pod + R"(,"NodeNames":[,"a"]})",
           "{" + pod + R"(,"NodeNames":["a""a"]})",
           "{" + pod + R"(,"NodeNames":["a]})",
           "{" + pod + R"(,"NodeNames":[null]})",
           "{" + pod + R"(,"NodeNames":["a"]}})",
           "[" + pod + R"(,"NodeNames":["a"]})",
           std::string(R"({"Pod":7,"NodeNames":["a"]})"),
           std::string(R"({"NodeNames":["a"]})"),
       })
    EXPECT_THAT(read(body).known, IsNull()) << body;
  EXPECT_THAT(read("{" + pod + R"(,"NodeNames":["a"]})").known, NotNull());
  EXPECT_THAT(read("{" + pod + R"(,"NodeNames":[]})").known, NotNull());
}

TEST_F(KnownNamesTest, AreReadTheSameOfABodyThatIsCutAnywhere) {
  const std::string body = body_of(all_nodes());
  for (std::size_t size = 0; size <= body.size(); ++size)
    read(body.substr(0, size));
}

TEST_F(KnownNamesTest, AreNotUsedWhereOneNeedsAnEscape) {
  known_ = known_names("say \"a\"");
  EXPECT_FALSE(known_->plain());
  EXPECT_THAT(read(body_of({node(1), node(2)})).known, IsNull());
}

}  // namespace
}  // namespace slackline::wire
