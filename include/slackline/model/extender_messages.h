// Requests and answers of the extender protocol as plain values (extender/v1 of kube-scheduler).
//
// Views point into the decoder's buffer: a request lives as long as the document it came from.
// Answers refer to nodes by their index in the request, so that the names are returned exactly as
// they came.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "slackline/model/node_names.h"
#include "slackline/model/pod.h"
#include "slackline/model/verdict.h"

namespace slackline {

// The decisions: the extender's four verbs, and what the planner does (core/handover/hand_over.h):
// plan a start, move a planned task to other nodes, suspend it again. The journal keeps all of
// them.
enum class Verb : std::uint8_t { kFilter, kPrioritize, kPreempt, kBind, kPlan, kMove, kSuspend };
inline constexpr std::array kVerbs = {Verb::kFilter, Verb::kPrioritize, Verb::kPreempt, Verb::kBind,
                                      Verb::kPlan,   Verb::kMove,       Verb::kSuspend};
std::string_view to_string(Verb verb);
std::optional<Verb> parse_verb(std::string_view text);
std::string verb_names();  // "filter, prioritize, ...", for messages

// Filter and prioritize. Invariant: node_names has no duplicates.
struct NodesRequest {
  Pod pod;
  std::vector<std::string_view> node_names;
  // The index of each name in `known`, if the decoder was given the names of a snapshot and they
  // include every name of the request; else empty, and null.
  std::vector<NodeIndex> nodes;
  std::shared_ptr<const NodeNames> known;
  bool full_objects = false;  // the request carried Node objects, so the answer of filter must, too
};

struct FilterReply {
  std::vector<Verdict> verdicts;  // by index of the request: every node exactly once
  std::string error;              // only when there is no answer at all
  bool gave_up = false;           // there was no time to judge: every node passes, or an error
};

struct HostScore {
  std::uint32_t node = 0;  // index of the request
  int score = 0;           // 1..10; zero entries are left out
};

struct PrioritizeReply {
  std::vector<HostScore> scores;  // best first, at most 128
};

struct NodeVictims {
  std::string node;
  std::vector<Uid> victims;
  std::int64_t pdb_violations = 0;
};

struct PreemptRequest {
  Pod pod;
  std::vector<NodeVictims> candidates;  // in the order of the request
};

struct PreemptReply {
  std::vector<NodeVictims> nodes;  // a subset of the candidates, victims by descending priority
  bool gave_up = false;            // there was no time to choose: the candidates as they came
};

struct BindRequest {
  ObjectKey pod;
  Uid uid;
  NodeName node;
};

struct BindReply {
  std::string error;  // empty = the pod is on that node
};

}  // namespace slackline
