// Bodies that a real kube-scheduler sent (scripts/record-golden): every one is understood, and the
// same request in its other form, names or objects, gives the same values.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/source_path.h"
#include "wire/extender/extender_codec.h"

namespace slackline::wire {
namespace {

using nlohmann::json;

struct Recorded {
  std::string name;
  std::string body;
};

// The bodies of one verb, sorted by name. Golden files come with the repository: none is a failure,
// not a skip.
std::vector<Recorded> recorded_in(const std::string& verb) {
  std::vector<Recorded> bodies;
  const std::filesystem::path golden = test::source_path("tests/contract/golden");
  for (const auto& entry : std::filesystem::recursive_directory_iterator(golden)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(verb + "-") || entry.path().extension() != ".json") continue;
    std::ifstream file(entry.path(), std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    bodies.push_back({name, text.str()});
  }
  std::sort(bodies.begin(), bodies.end(),
            [](const Recorded& a, const Recorded& b) { return a.name < b.name; });
  EXPECT_FALSE(bodies.empty()) << "no recorded bodies of " << verb << " below " << golden;
  return bodies;
}

Decoded<NodesRequest> decode(ExtenderCodec& codec, const std::string& body) {
  auto decoded = codec.decode_nodes(body);
  EXPECT_TRUE(decoded) << decoded.error().message;
  EXPECT_EQ(decoded->refusal, "");
  return *std::move(decoded);
}

// The same request as a nodeCacheCapable extender would have got it.
std::string by_names(const std::string& body) {
  json args = json::parse(body);
  if (args["Nodes"].is_null()) return body;
  args["NodeNames"] = json::array();
  for (const json& node : args["Nodes"]["items"])
    args["NodeNames"].push_back(node["metadata"]["name"]);
  args["Nodes"] = nullptr;
  return args.dump();
}

std::vector<Recorded> node_requests() {
  std::vector<Recorded> bodies = recorded_in("filter");
  for (Recorded& body : recorded_in("prioritize"))
    bodies.push_back(std::move(body));
  return bodies;
}

TEST(RecordedBodies, NodeRequestsAreUnderstood) {
  for (const auto& [name, body] : node_requests()) {
    ExtenderCodec codec(default_gpu_catalog());
    const auto decoded = decode(codec, body);
    const Pod& pod = decoded.request.pod;
    EXPECT_FALSE(pod.uid.empty()) << name;
    EXPECT_FALSE(pod.key.name.empty()) << name;
    EXPECT_TRUE(pod.requests.wants_gpus()) << name;
    EXPECT_TRUE(pod.problems.empty()) << name;
    EXPECT_GT(pod.created_s, 1.7e9) << name;
    EXPECT_FALSE(decoded.request.node_names.empty()) << name;
    // The gang's annotations are on its Job alone.
    EXPECT_EQ(pod.intent == nullptr, name.find("-gang.") != std::string::npos) << name;
    if (pod.intent != nullptr) {
      EXPECT_TRUE(pod.intent->model) << name;
      EXPECT_THAT(pod.intent->problems, testing::IsEmpty()) << name;
    }
    EXPECT_EQ(decoded.request.full_objects, name.find(".objects.") != std::string::npos) << name;
  }
}

TEST(RecordedBodies, NamesAndObjectsGiveTheSameRequest) {
  for (const auto& [name, body] : node_requests()) {
    ExtenderCodec first(default_gpu_catalog());
    ExtenderCodec second(default_gpu_catalog());
    const std::string other_body = by_names(body);
    const auto one = decode(first, body);
    const auto other = decode(second, other_body);
    EXPECT_EQ(one.request.node_names, other.request.node_names) << name;
    EXPECT_EQ(one.request.pod.uid, other.request.pod.uid) << name;
    EXPECT_EQ(one.request.pod.requests, other.request.pod.requests) << name;
  }
}

TEST(RecordedBodies, AFilterThatPassesAllGivesBackWhatCame) {
  for (const auto& [name, body] : recorded_in("filter")) {
    ExtenderCodec codec(default_gpu_catalog());
    const auto decoded = decode(codec, body);
    FilterReply reply;
    reply.verdicts.assign(decoded.request.node_names.size(), Verdict::kPass);
    const json sent = json::parse(body);
    const json answer = json::parse(codec.encode_filter(decoded.request, reply));
    EXPECT_EQ(answer["NodeNames"], sent["NodeNames"]) << name;
    EXPECT_EQ(answer["Nodes"], sent["Nodes"]) << name;
    EXPECT_TRUE(answer["FailedNodes"].empty() && answer["FailedAndUnresolvableNodes"].empty())
        << name;
    EXPECT_EQ(answer["Error"], "") << name;
  }
}

TEST(RecordedBodies, VictimsAndMetaVictimsGiveTheSameRequest) {
  for (const auto& [name, body] : recorded_in("preempt")) {
    json args = json::parse(body);
    if (args["NodeNameToMetaVictims"].is_null()) {
      for (const auto& [node, victims] : args["NodeNameToVictims"].items()) {
        json& meta = args["NodeNameToMetaVictims"][node];
        meta["NumPDBViolations"] = victims["NumPDBViolations"];
        for (const json& pod : victims["Pods"])
          meta["Pods"].push_back({{"UID", pod["metadata"]["uid"]}});
      }
      args["NodeNameToVictims"] = nullptr;
    }
    ExtenderCodec codec(default_gpu_catalog());
    const auto one = codec.decode_preempt(body);
    const auto other = codec.decode_preempt(args.dump());
    ASSERT_TRUE(one && other) << name;
    EXPECT_EQ(one->refusal + other->refusal, "") << name;
    PreemptReply same_one{one->request.candidates};
    PreemptReply same_other{other->request.candidates};
    EXPECT_EQ(encode_preempt(same_one), encode_preempt(same_other)) << name;
    EXPECT_EQ(json::parse(encode_preempt(same_one))["NodeNameToMetaVictims"],
              args["NodeNameToMetaVictims"])
        << name;
  }
}

TEST(RecordedBodies, BindsAreUnderstood) {
  for (const auto& [name, body] : recorded_in("bind")) {
    ExtenderCodec codec(default_gpu_catalog());
    const auto decoded = codec.decode_bind(body);
    ASSERT_TRUE(decoded) << name;
    EXPECT_EQ(decoded->refusal, "") << name;
    EXPECT_EQ(decoded->request.pod.ns, "default") << name;
    EXPECT_FALSE(decoded->request.uid.empty()) << name;
    EXPECT_FALSE(decoded->request.node.empty()) << name;
  }
}

}  // namespace
}  // namespace slackline::wire
