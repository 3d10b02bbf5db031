// Decision rows for tests of the journal.
#pragma once

#include <string>

#include "slackline/base/text.h"
#include "slackline/model/decision.h"

namespace slackline::test {

// A filter decision with every field set; `number` makes it unlike its neighbours.
inline DecisionRow decision(int number) {
  DecisionRow row;
  row.time_s = 1700000000.25 + number;
  row.verb = Verb::kFilter;
  row.pod_uid = Uid(format("uid-{}", number));
  row.pod = {"research", format("train-{}", number)};
  row.plan_id = "plan-7";
  row.policy = "cer";
  row.options_hash = "9f8a";
  row.snapshot_version = 4000000000ULL + static_cast<std::uint64_t>(number);
  row.nodes_asked = 500;
  row.result = "passed 499 of 500";
  row.reasons = {{"HeldForOthers", 1}};
  row.candidates = {{"gpu-1", 8, {{"cer", 0.75}, {"free_gpus", 4}}}, {"gpu-2", 7, {{"cer", 0.5}}}};
  row.duration_us = 120.5;
  return row;
}

}  // namespace slackline::test
