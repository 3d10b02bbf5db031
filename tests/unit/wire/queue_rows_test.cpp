// What a person and a program read of the queue: table, CSV, YAML; and of its Events.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "wire/format/csv.h"
#include "wire/format/yaml.h"
#include "wire/format/yaml_writer.h"
#include "wire/kube/event_codec.h"
#include "wire/rest/rows.h"
#include "wire/rest/standing.h"

namespace slackline::wire {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

QueueRow a_row() {
  QueueRow row;
  row.position = 3;
  row.key = {"team", "train"};
  row.kind = TaskKind::kJob;
  TaskIntent intent;
  intent.queue = "team, \"a\"";
  intent.qos_class = QosClass::kPrior;
  row.intent = std::make_shared<const TaskIntent>(intent);
  row.reason = "WaitsItsTurn";
  row.created_s = 1.8e9;
  row.age_s = 60;
  row.slack_s = -90;
  row.forecast = "NotInBook";
  row.gpus = 4;
  return row;
}

TEST(QueueRows, TheTableSaysWhatIsNotKnown) {
  const std::string table = table_of<QueueRow>({a_row()}).str();
  EXPECT_THAT(table, HasSubstr("team/train"));
  EXPECT_THAT(table, HasSubstr("-1m30s"));
  EXPECT_THAT(table, HasSubstr("NotInBook"));
  EXPECT_THAT(table, HasSubstr("auto"));
  EXPECT_THAT(table, Not(HasSubstr("GPUS")));
  EXPECT_THAT(table_of<QueueRow>({a_row()}, Width::kWide).str(), HasSubstr("1m"));
}

TEST(QueueRows, WhoEndsBeyondTheForecastAndIsDueWithinItIsLateByMoreThanIsKnown) {
  QueueRow row = a_row();
  row.forecast = "BeyondHorizon";
  row.deadline_s = 1.8e9 + 9 * 3600;
  row.finish_after_s = 1.8e9 + 48 * 3600;
  const std::string table = table_of<QueueRow>({row}).str();
  EXPECT_THAT(table, HasSubstr("LATE"));
  EXPECT_THAT(table, HasSubstr("< -1d15h"));
  const std::string list = encode_list<QueueRow>({row}, "");
  EXPECT_THAT(list, HasSubstr("\"late\":true"));
  EXPECT_THAT(list, HasSubstr("\"marginBelowSeconds\":-140400"));
  EXPECT_THAT(list, Not(HasSubstr("marginSeconds")));
  EXPECT_EQ(*standing_in_queue(list), Standing::kTooLate);
  row.deadline_s = 1.8e9 + 50 * 3600;
  const std::string later = encode_list<QueueRow>({row}, "");
  EXPECT_THAT(later, Not(HasSubstr("late\"")));
  EXPECT_THAT(later, Not(HasSubstr("marginBelowSeconds")));
}

TEST(QueueRows, WhatItsTimeLimitEndsIsMarked) {
  QueueRow row = a_row();
  EXPECT_THAT(encode_list<QueueRow>({row}, ""), Not(HasSubstr("cutShort")));
  row.cut_short = true;
  EXPECT_THAT(table_of<QueueRow>({row}).str(), HasSubstr("CUT SHORT"));
  EXPECT_THAT(encode_list<QueueRow>({row}, ""), HasSubstr("\"cutShort\":true"));
}

TEST(QueueRows, CsvReadsBackWhole) {
  const auto table = read_csv(table_of<QueueRow>({a_row()}, Width::kWide).csv());
  ASSERT_TRUE(table) << table.error().message;
  ASSERT_EQ(table->rows.size(), 1U);
  const auto cell = [&](std::string_view column) {
    return std::string(table->rows[0].cell(*table->column(column)));
  };
  EXPECT_EQ(cell("queue"), "team, \"a\"");
  EXPECT_EQ(cell("gpu_type"), "any");
  EXPECT_EQ(cell("deadline"), "");
}

TEST(JsonToYaml, ReadsBackAsTheSameValue) {
  const std::string json =
      R"({"items":[{"name":"a","tags":["x","no","1"],"empty":{},"none":[],"at":"2026-01-01T00:00:00Z"},)"
      R"([1,[2,-3.5]],null,true,false,""],"key: odd":"line\nbreak","metadata":{"continue":""}})";
  const auto yaml = json_to_yaml(json);
  ASSERT_TRUE(yaml) << yaml.error().message;
  const auto back = yaml_to_json(*yaml);
  ASSERT_TRUE(back) << back.error().message << "\n" << *yaml;
  EXPECT_EQ(*back, json) << *yaml;
  EXPECT_THAT(*yaml, HasSubstr("items:\n- name: a\n  tags:\n  - x\n  - \"no\"\n"));
}

TEST(JsonToYaml, RefusesWhatIsNoJson) {
  EXPECT_FALSE(json_to_yaml("{"));
}

TEST(EventCodec, OneNameForEachObjectAndReason) {
  TaskEvent event;
  event.kind = "Job";
  event.object = {"team", "train"};
  event.uid = Uid("u1");
  event.reason = "Deviated";
  event.message = "soon";
  event.count = 3;
  TaskEvent other = event;
  other.message = "elsewhere";
  EXPECT_EQ(event_name(event), event_name(other));
  other.reason = "Planned";
  EXPECT_NE(event_name(event), event_name(other));
  EXPECT_THAT(encode_event(event), HasSubstr("\"name\":\"" + event_name(event) + "\""));
  EXPECT_THAT(encode_event(event), HasSubstr(R"("apiVersion":"batch/v1","kind":"Job")"));
  other.kind = "PyTorchJob";
  other.api_version = "kubeflow.org/v1";
  EXPECT_THAT(encode_event(other),
              HasSubstr(R"("apiVersion":"kubeflow.org/v1","kind":"PyTorchJob")"));
  EXPECT_THAT(encode_event_update(event), HasSubstr("\"count\":3"));
  EXPECT_THAT(encode_event_update(event), HasSubstr("\"type\":\"Normal\"")) << "taken back";
  EXPECT_EQ(encode_forecast_patch(event),
            R"([{"op":"test","path":"/metadata/uid","value":"u1"},)"
            R"({"op":"test","path":"/spec/suspend","value":true},)"
            R"({"op":"add","path":"/metadata/annotations/slackline.dev~1forecast",)"
            R"("value":"soon"}])");
}

}  // namespace
}  // namespace slackline::wire
