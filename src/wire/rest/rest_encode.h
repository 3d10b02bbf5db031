// The views of REST as JSON. Times are RFC 3339, durations seconds; keys are camelCase.
//
// One overload per view writes one value; lists are written as Kubernetes does:
// {"items":[...],"metadata":{"continue":"..."}}.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "slackline/model/decision.h"
#include "slackline/model/views.h"
#include "wire/format/json_writer.h"

namespace slackline::wire {

void encode(JsonWriter& out, const ClusterView& view);
void encode(JsonWriter& out, const NodeView& view);
void encode(JsonWriter& out, const TaskView& view);
void encode(JsonWriter& out, const ScoreView& view);
void encode(JsonWriter& out, const PlacementRow& row);
void encode(JsonWriter& out, const DecisionRow& row);

// A member of a list besides its items: one text, several, or a number. Empty ones are left out.
using ListFact = std::variant<std::string, std::vector<std::string>, std::int64_t>;
using ListFacts = std::vector<std::pair<std::string, ListFact>>;
void encode_facts(JsonWriter& out, const ListFacts& facts);

template <class T>
std::string encode_one(const T& value) {
  JsonWriter out;
  encode(out, value);
  return out.take();
}

template <class Iterator>
std::string encode_list(Iterator first, Iterator last, const std::string& next,
                        const ListFacts& facts = {}) {
  JsonWriter out;
  out.begin_object();
  encode_facts(out, facts);
  out.key("items").begin_array();
  for (; first != last; ++first)
    encode(out, *first);
  out.end_array();
  out.key("metadata").begin_object().field("continue", next).end_object();
  out.end_object();
  return out.take();
}

}  // namespace slackline::wire
