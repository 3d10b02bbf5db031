#include "wire/extender/extender_codec.h"

#include <chrono>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slackline/base/text.h"
#include "support/node_names.h"

namespace slackline::wire {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class ExtenderCodecTest : public testing::Test {
 protected:
  NodesRequest nodes(const std::string& body) {
    auto decoded = codec_.decode_nodes(body);
    EXPECT_TRUE(decoded) << decoded.error().message;
    EXPECT_THAT(decoded->refusal, IsEmpty());
    return decoded->request;
  }
  std::string refusal(const std::string& body) {
    auto decoded = codec_.decode_nodes(body);
    EXPECT_TRUE(decoded) << decoded.error().message;
    return decoded->refusal;
  }

  ExtenderCodec codec_{default_gpu_catalog()};
};

TEST_F(ExtenderCodecTest, NamesAreReadInOrderEachOnce) {
  const auto request =
      nodes(R"({"Pod":{"metadata":{"name":"p"}},"Nodes":null,"NodeNames":["b","a","b","c","a"]})");
  EXPECT_THAT(request.node_names, ElementsAre("b", "a", "c"));
  EXPECT_FALSE(request.full_objects);
  EXPECT_EQ(request.pod.key.name, "p");
}

// Names that ascend, from the middle on and then from the start, are not looked up one by one.
TEST_F(ExtenderCodecTest, NamesInTheSchedulersOrderAreReadEachOnceToo) {
  const auto names_of = [&](const std::string& names) {
    const auto request = nodes(R"({"Pod":{},"NodeNames":[)" + names + "]}");
    return std::vector<std::string>(request.node_names.begin(), request.node_names.end());
  };
  EXPECT_THAT(names_of(R"("a","b","c")"), ElementsAre("a", "b", "c"));
  EXPECT_THAT(names_of(R"("c","d","a","b")"), ElementsAre("c", "d", "a", "b"));
  EXPECT_THAT(names_of(R"("a","a")"), ElementsAre("a"));
  EXPECT_THAT(names_of(R"("a","b","b","c")"), ElementsAre("a", "b", "c"));
  EXPECT_THAT(names_of(R"("c","d","a","c")"), ElementsAre("c", "d", "a"));
  EXPECT_THAT(names_of(R"("c","d","a","b","d")"), ElementsAre("c", "d", "a", "b"));
  EXPECT_THAT(names_of(R"("c","d","a","b","a")"), ElementsAre("c", "d", "a", "b"));
  EXPECT_THAT(names_of(R"("c","a","a")"), ElementsAre("c", "a"));
}

TEST_F(ExtenderCodecTest, UpstreamsLowerCasedDocumentIsTheSame) {
  const auto request = nodes(R"({"pod":{"metadata":{"name":"p"}},"nodes":null,"nodenames":["a"]})");
  EXPECT_THAT(request.node_names, ElementsAre("a"));
  const auto preempt = codec_.decode_preempt(
      R"({"pod":{},"nodenametometavictims":{"n":{"pods":[{"uid":"u"}],"numpdbviolations":2}}})");
  ASSERT_TRUE(preempt);
  EXPECT_THAT(preempt->refusal, IsEmpty());
  EXPECT_THAT(preempt->request.candidates[0].victims, ElementsAre(Uid("u")));
  EXPECT_EQ(preempt->request.candidates[0].pdb_violations, 2);
  const auto bind =
      codec_.decode_bind(R"({"podname":"p","podnamespace":"n","poduid":"u","node":"x"})");
  ASSERT_TRUE(bind);
  EXPECT_EQ(bind->request.pod, (ObjectKey{"n", "p"}));
}

TEST_F(ExtenderCodecTest, WhatCannotBeAnsweredIsRefusedByName) {
  EXPECT_THAT(refusal(R"({"NodeNames":["a"]})"), HasSubstr("Pod is missing"));
  EXPECT_THAT(refusal(R"({"Pod":null,"NodeNames":["a"]})"), HasSubstr("Pod is missing"));
  EXPECT_THAT(refusal(R"({"Pod":{},"Nodes":null,"NodeNames":null})"), HasSubstr("both null"));
  EXPECT_THAT(refusal(R"({"Pod":{}})"), HasSubstr("both null"));
  EXPECT_THAT(refusal(R"({"Pod":{},"NodeNames":["a",7]})"), HasSubstr("NodeNames[1]"));
  EXPECT_THAT(refusal(R"({"Pod":{},"NodeNames":"a"})"), HasSubstr("NodeNames"));
  EXPECT_THAT(refusal(R"({"Pod":{},"Nodes":[]})"), HasSubstr("Nodes"));
  EXPECT_THAT(refusal(R"({"Pod":{},"Nodes":{"items":[{"metadata":{}}]}})"),
              HasSubstr("Nodes.items[0].metadata.name"));
}

TEST_F(ExtenderCodecTest, EmptyListsAreFine) {
  EXPECT_THAT(nodes(R"({"Pod":{},"NodeNames":[]})").node_names, IsEmpty());
  const auto request = nodes(R"({"Pod":{},"Nodes":{"items":null}})");
  EXPECT_TRUE(request.full_objects);
  EXPECT_EQ(codec_.encode_filter(request, {}),
            R"({"Nodes":{"items":[]},"NodeNames":null,"FailedNodes":{},)"
            R"("FailedAndUnresolvableNodes":{},"Error":""})");
}

TEST_F(ExtenderCodecTest, AFilterReplyAccountsForEveryNode) {
  const auto request = nodes(R"({"Pod":{},"NodeNames":["a","b","c","d"]})");
  FilterReply reply;
  reply.verdicts = {Verdict::kPass, Verdict::kHeldForOthers, Verdict::kNodeTooSmall,
                    Verdict::kPass};
  EXPECT_EQ(
      codec_.encode_filter(request, reply),
      R"({"Nodes":null,"NodeNames":["a","d"],)"
      R"("FailedNodes":{"b":"free GPUs are held for tasks of equal or higher priority"},)"
      R"("FailedAndUnresolvableNodes":{"c":"node has fewer GPUs in all than one pod requests"},)"
      R"("Error":""})");
}

TEST_F(ExtenderCodecTest, NobodyPassesIsAnEmptyListNotNull) {
  const auto request = nodes(R"({"Pod":{},"NodeNames":["a"]})");
  FilterReply reply;
  reply.verdicts = {Verdict::kInsufficientGpus};
  EXPECT_THAT(codec_.encode_filter(request, reply), HasSubstr(R"("NodeNames":[],)"));
}

TEST_F(ExtenderCodecTest, NodeDocumentsAreEchoedByteForByte) {
  const std::string first = R"({ "metadata": {"name":"a", "odd\u0041":"}]{" }, "x":1.50 })";
  const std::string second = R"({"metadata":{"name":"b"},"spec":{"s":"\\\"}"}})";
  const std::string body =
      R"({"Pod":{"nodes":{"items":[1]}},"Nodes":{"metadata":{"resourceVersion":"1"},"items":[ )" +
      first + " ,\n" + second + R"( , {"metadata":{"name":"a"}} ]},"NodeNames":null})";
  const auto request = nodes(body);
  ASSERT_THAT(request.node_names, ElementsAre("a", "b"));
  FilterReply reply;
  reply.verdicts = {Verdict::kPass, Verdict::kPass};
  EXPECT_EQ(
      codec_.encode_filter(request, reply),
      R"({"Nodes":{"metadata":{"resourceVersion":"1"},"items":[)" + first + "," + second +
          R"(]},"NodeNames":null,"FailedNodes":{},"FailedAndUnresolvableNodes":{},"Error":""})");
}

TEST_F(ExtenderCodecTest, HostileNamesStayValidJson) {
  const std::string body =
      R"({"Pod":{},"NodeNames":["\u0000\n\"\\","é網😀",")" + std::string(253, 'x') + R"("]})";
  const auto request = nodes(body);
  ASSERT_EQ(request.node_names.size(), 3U);
  FilterReply reply;
  reply.verdicts = {Verdict::kPass, Verdict::kNodeTooSmall, Verdict::kHeldForOthers};
  const std::string json = codec_.encode_filter(request, reply);
  EXPECT_THAT(json, HasSubstr(R"(["\u0000\n\"\\"])"));
  EXPECT_THAT(json, HasSubstr(R"({"é網😀":)"));
}

TEST_F(ExtenderCodecTest, OnlyAnsweredScoresAreWritten) {
  const auto request = nodes(R"({"Pod":{},"NodeNames":["a","b","c"]})");
  PrioritizeReply reply;
  reply.scores = {{2, 10}, {0, 3}};
  EXPECT_EQ(codec_.encode_prioritize(request, reply),
            R"([{"Host":"c","Score":10},{"Host":"a","Score":3}])");
  EXPECT_EQ(codec_.encode_prioritize(request, {}), "[]");
}

TEST_F(ExtenderCodecTest, MetaVictimsAndVictimsGiveTheSameRequest) {
  const auto meta =
      codec_.decode_preempt(R"({"Pod":{"metadata":{"name":"p"}},"NodeNameToVictims":null,
    "NodeNameToMetaVictims":{"n2":{"Pods":[{"UID":"u1"},{"UID":"u2"}],"NumPDBViolations":1},
                             "n1":{"Pods":null,"NumPDBViolations":-4}}})");
  ASSERT_TRUE(meta);
  const auto full =
      codec_.decode_preempt(R"({"Pod":{"metadata":{"name":"p"}},"NodeNameToMetaVictims":null,
    "NodeNameToVictims":{"n2":{"Pods":[{"metadata":{"uid":"u1"}},{"metadata":{"uid":"u2"}}],
                               "NumPDBViolations":1},"n1":{"Pods":[],"NumPDBViolations":-4}}})");
  ASSERT_TRUE(full);
  for (const auto* request : {&meta->request, &full->request}) {
    ASSERT_EQ(request->candidates.size(), 2U);
    EXPECT_EQ(request->candidates[0].node, "n2");
    EXPECT_THAT(request->candidates[0].victims, ElementsAre(Uid("u1"), Uid("u2")));
    EXPECT_EQ(request->candidates[0].pdb_violations, 1);
    EXPECT_THAT(request->candidates[1].victims, IsEmpty());
    EXPECT_EQ(request->candidates[1].pdb_violations, 0);
  }
}

TEST_F(ExtenderCodecTest, PreemptAndBindRefuseWhatIsMissing) {
  EXPECT_THAT(codec_.decode_preempt(R"({"Pod":{}})")->refusal,
              HasSubstr("neither NodeNameToVictims"));
  EXPECT_THAT(codec_.decode_preempt(R"({"NodeNameToMetaVictims":{}})")->refusal, HasSubstr("Pod"));
  EXPECT_THAT(
      codec_.decode_preempt(R"({"Pod":{},"NodeNameToMetaVictims":{"n":{"Pods":[{}]}}})")->refusal,
      HasSubstr("uid"));
  EXPECT_THAT(
      codec_.decode_bind(R"({"PodName":"p","PodNamespace":"n","PodUID":"","Node":"x"})")->refusal,
      HasSubstr("PodUID"));
  EXPECT_THAT(codec_.decode_bind("{}")->refusal, HasSubstr("PodName"));
}

std::string body_with(std::size_t names) {
  std::string body = R"({"Pod":{"metadata":{"name":"p"}},"Nodes":null,"NodeNames":[)";
  for (std::size_t i = 0; i < names; ++i)
    body += slackline::format(R"({}"n{}")", i == 0 ? "" : ",", i % 60'000);
  return body + "]}";
}

TEST_F(ExtenderCodecTest, MoreNodesThanAnyClusterHasAreRefusedWithNumberAndLimit) {
  EXPECT_THAT(refusal(body_with(50'000)), IsEmpty());
  EXPECT_THAT(refusal(body_with(50'001)), testing::AllOf(HasSubstr("50001"), HasSubstr("50000")));
  const auto known = test::node_names({"n0", "n1"});
  const auto twice = codec_.decode_nodes(body_with(50'001), known);
  EXPECT_TRUE(twice->too_many) << "also where names repeat that are known";
  std::vector<std::string> many;
  for (int i = 0; i < 30'000; ++i)
    many.push_back(slackline::format("n{}", i));
  const auto large = test::node_names(many);
  EXPECT_EQ(name_limit(large.get()), 61'000U);
  EXPECT_THAT(codec_.decode_nodes(body_with(60'000), large)->refusal, IsEmpty());
}

TEST_F(ExtenderCodecTest, MoreCandidatesThanAnyClusterHasAreRefused) {
  std::string body = R"({"Pod":{"metadata":{"name":"p"}},"NodeNameToMetaVictims":{)";
  for (int i = 0; i < 50'001; ++i)
    body += slackline::format(R"({}"n{}":{{}})", i == 0 ? "" : ",", i);
  const auto decoded = codec_.decode_preempt(body + "}}");
  ASSERT_TRUE(decoded);
  EXPECT_TRUE(decoded->too_many);
  EXPECT_THAT(decoded->refusal, HasSubstr("50001"));
}

TEST_F(ExtenderCodecTest, UndecodableBodiesAreErrors) {
  for (const char* body :
       {"", "{", "nonsense", "[]", "7", R"({"Pod":{},"NodeNames":["a"]}})", "null"}) {
    EXPECT_FALSE(codec_.decode_nodes(body)) << body;
    EXPECT_FALSE(codec_.decode_preempt(body)) << body;
    EXPECT_FALSE(codec_.decode_bind(body)) << body;
  }
}

TEST_F(ExtenderCodecTest, DepthAndSmallTokenBombsAreRefusedAtOnce) {
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_FALSE(codec_.decode_nodes(std::string(1'000'000, '[')));
  std::string commas;
  while (commas.size() < (std::size_t{4} << 20))
    commas += "{},";
  EXPECT_FALSE(codec_.decode_nodes(commas));
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  EXPECT_LT(took.count(), 2.0) << "the real limit is 100 ms; sanitizers are slow";
}

}  // namespace
}  // namespace slackline::wire
