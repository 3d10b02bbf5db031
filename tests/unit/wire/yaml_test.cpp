#include "wire/format/yaml.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "wire/format/document.h"
#include "wire/kube/kube_decode.h"

namespace slackline::wire {
namespace {

using testing::HasSubstr;

std::string json_of(const std::string& yaml) {
  const auto json = yaml_to_json(yaml);
  EXPECT_TRUE(json) << json.error().message;
  return json.value_or("");
}

TEST(YamlToJson, PlainScalarsBecomeWhatTheyLookLike) {
  EXPECT_EQ(json_of("a: 1\nb: -2.5\nc: true\nd: null\ne: ~\nf:\ng: text here\nh: 1e3\n"),
            R"({"a":1,"b":-2.5,"c":true,"d":null,"e":null,"f":null,"g":"text here","h":1e3})");
}

TEST(YamlToJson, WhatIsNoJsonNumberStaysText) {
  EXPECT_EQ(
      json_of("[0123, +5, .5, 1., 0x10, 1Gi, 500m, 99999999999999999999, 1e999, yes, -]"),
      R"(["0123","+5",".5","1.","0x10","1Gi","500m","99999999999999999999","1e999","yes","-"])");
}

TEST(YamlToJson, QuotedStringsStayStrings) {
  EXPECT_EQ(json_of("a: \"1\"\nb: 'true'\nc: !!str 7\nd: \"null\"\n"),
            R"({"a":"1","b":"true","c":"7","d":"null"})");
}

TEST(YamlToJson, LabelsAndAnnotationsAreAlwaysStrings) {
  EXPECT_EQ(
      json_of("metadata:\n  labels: {a: 1, b: true, c: }\n  annotations:\n    x: 3.5\nn: 1\n"),
      R"({"metadata":{"labels":{"a":"1","b":"true","c":""},"annotations":{"x":"3.5"}},"n":1})");
}

TEST(YamlToJson, SeveralDocumentsBecomeOneList) {
  EXPECT_EQ(json_of("---\nkind: Node\n---\n---\nkind: Pod\n"),
            R"({"apiVersion":"v1","kind":"List","items":[{"kind":"Node"},{"kind":"Pod"}]})");
}

TEST(YamlToJson, JsonComesBackAsItIs) {
  const std::string json = "{ \"a\" : 1.50, \"b\":[\"\\ud83d\\ude00\"] }";
  EXPECT_EQ(json_of(json), json);
}

TEST(YamlToJson, ADumpReachesTheDecoder) {
  const std::string yaml = R"(apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Node
  metadata:
    name: gpu-1
    labels:
      nvidia.com/gpu.product: NVIDIA-A100-SXM4-80GB
      rack: "7"
      row: 12
  status:
    allocatable: {cpu: "8", memory: 16Gi, nvidia.com/gpu: "4", pods: 110}
---
apiVersion: v1
kind: Pod
metadata: {name: p, namespace: n, annotations: {slackline.dev/batch-size: 256}}
spec:
  containers:
  - resources: {limits: {nvidia.com/gpu: 2}}
)";
  KubeDecoder decoder(default_gpu_catalog());
  const auto dump = decoder.dump(json_of(yaml));
  ASSERT_TRUE(dump);
  ASSERT_EQ(dump->items.size(), 2U);
  const Node& node = std::get<Node>(dump->items[0]);
  EXPECT_EQ(node.allocatable.gpu_total(), 4);
  EXPECT_EQ(*find_label(node.labels, "row"), "12");
  const Pod& pod = std::get<Pod>(dump->items[1]);
  EXPECT_EQ(pod.requests.gpu_total(), 2);
  EXPECT_EQ(pod.intent->batch_size, 256);
}

TEST(YamlToJson, AliasesRepeatTheirAnchor) {
  EXPECT_EQ(json_of("a: &x {k: [1, 2]}\nb: *x\nc: [*x, &y s, *y]\n"),
            R"({"a":{"k":[1,2]},"b":{"k":[1,2]},"c":[{"k":[1,2]},"s","s"]})");
}

std::string alias_bomb() {
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int j = 0; j < 10; ++j)
      bomb += "*a" + std::to_string(i - 1) + ", ";
    bomb += "]\n";
  }
  return bomb;
}

TEST(YamlToJson, AKeyGivenTwiceIsRefusedWithItsLine) {
  const auto why = [](const char* text) { return yaml_to_json(text).error().message; };
  EXPECT_EQ(why("a: 1\nb:\n  c: 1\n  d: 2\n  c: 3\n"),
            "line 5: \"c\" is given twice; keep one of them");
  EXPECT_EQ(why("{\"a\": [{\"b\": 1,\n\"b\": 2}]}"),
            "line 2: \"b\" is given twice; keep one of them");
  EXPECT_TRUE(yaml_to_json("- {a: 1, b: {a: 2}}\n- {a: 3}\n"));
  EXPECT_TRUE(yaml_to_json("{\"a\": {\"a\": 1}, \"b\": [{\"a\": 1}, {\"a\": 1}]}"));
}

TEST(YamlToJson, AMergeKeyIsRefusedNotTakenForAnOrdinaryOne) {
  EXPECT_EQ(yaml_to_json("base: &b {a: 1}\nmore:\n  <<: *b\n  c: 2\n").error().message,
            "line 3: merge keys (<<) are not read; write what they stand for, or let "
            "`yq 'explode(.)'` do it");
  EXPECT_EQ(*yaml_to_json("base: &b {a: 1}\nmore: *b\n"), R"({"base":{"a":1},"more":{"a":1}})");
}

TEST(YamlToJson, BombsAndNonsenseAreRefusedWithTheLine) {
  EXPECT_THAT(yaml_to_json(alias_bomb()).error().message, HasSubstr("aliases"));
  EXPECT_THAT(yaml_to_json(std::string(100, '[') + std::string(100, ']') + "x").error().message,
              HasSubstr("deeper than"));
  EXPECT_THAT(yaml_to_json("a: 1\nb: [\n").error().message, HasSubstr("line "));
  EXPECT_THAT(yaml_to_json("{a: b}: c\n").error().message, HasSubstr("key"));
  EXPECT_THAT(yaml_to_json(", a\n").error().message, HasSubstr("cannot begin"))
      << "once an endless loop";
  for (const char* text : {"a:\n\tb: 1\n", "a:\n \tb: 1\n", "a: 1\n\tb: 1\n"})
    EXPECT_THAT(yaml_to_json(text).error().message,
                HasSubstr("line 2: not YAML: a tab where YAML wants spaces"))
        << text;
  EXPECT_FALSE(yaml_to_json(""));
  EXPECT_FALSE(yaml_to_json("---\n---\n"));
  EXPECT_THAT(yaml_to_json("a: 1\n", YamlLimits{3, 10}).error().message, HasSubstr("at most 3"));
}

TEST(Document, KnowsLinesAndPaths) {
  const auto root =
      read_document("apiVersion: v1\n\nqueues:\n- name: a\n  weight: 2\n-\n  name: 'b'\nend:\n");
  ASSERT_TRUE(root) << root.error().message;
  EXPECT_EQ(root->kind, Document::Kind::kMap);
  ASSERT_EQ(root->fields.size(), 3U);
  const Document& queues = *root->find("queues");
  EXPECT_EQ(queues.line, 3);
  ASSERT_EQ(queues.items.size(), 2U);
  const Document& weight = *queues.items[0].find("weight");
  EXPECT_EQ(weight.line, 5);
  EXPECT_EQ(weight.path, "queues[0].weight");
  EXPECT_EQ(weight.scalar, "2");
  EXPECT_FALSE(weight.quoted);
  EXPECT_TRUE(queues.items[1].find("name")->quoted);
  EXPECT_EQ(root->find("end")->kind, Document::Kind::kNull);
  EXPECT_EQ(root->find("absent"), nullptr);
}

TEST(Document, ReadsJsonAndKeepsDoubles) {
  const auto root = read_document("{\"a\": 1,\n \"a\": \"2\"}");
  ASSERT_TRUE(root);
  ASSERT_EQ(root->fields.size(), 2U);
  EXPECT_EQ(root->fields[1].value.line, 2);
  EXPECT_TRUE(root->fields[1].value.quoted);
}

TEST(Document, AnAliasStandsWhereItIsUsed) {
  const auto root = read_document("a: &x\n  k: 1\nb:\n  - *x\n");
  ASSERT_TRUE(root);
  const Document& copy = root->find("b")->items[0];
  EXPECT_EQ(copy.find("k")->path, "b[0].k");
  EXPECT_EQ(copy.find("k")->line, 4);
}

TEST(Document, RefusesWhatIsTooMuch) {
  EXPECT_THAT(read_document(alias_bomb()).error().message, HasSubstr("values"));
  EXPECT_THAT(read_document("a: 1\n---\nb: 2\n").error().message, HasSubstr("several documents"));
  EXPECT_THAT(read_document(std::string(2 << 20, ' ')).error().message, HasSubstr("at most"));
  EXPECT_EQ(read_document("a: 1\nb: [1,\n").error().line, 3);
  EXPECT_EQ(read_document("")->kind, Document::Kind::kNull);
}

}  // namespace
}  // namespace slackline::wire
