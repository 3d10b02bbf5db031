// Scores, and the journal of decisions.
#include <algorithm>

#include "slackline/base/text.h"
#include "wire/rest/cell_text.h"
#include "wire/rest/rows.h"

namespace slackline::wire {
namespace {

std::string feature(const ScoreView& view, std::string_view name) {
  for (const auto& [key, value] : view.features)
    if (key == name) return name == "free_gpus_after" ? format("{:.0f}", value) : figure(value);
  return "-";
}

auto feature_shown(std::string_view name) {
  return [name](const ScoreView& view) { return feature(view, name); };
}

// "K80:8 P100:7", the best few.
std::string candidates_text(const DecisionRow& row) {
  constexpr std::size_t kShown = 4;
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < std::min(kShown, row.candidates.size()); ++i)
    parts.push_back(format("{}:{}", row.candidates[i].node, row.candidates[i].score));
  for (const auto& [reason, nodes] : row.reasons)
    parts.push_back(format("{}:{}", reason, nodes));
  return join(parts, " ");
}

std::optional<std::string> asker_of(const DecisionStop& stop) {
  return stop.asker.name.empty() ? std::nullopt : std::optional(stop.asker.str());
}

std::optional<Seconds> gain_of(const DecisionStop& stop) {
  return stop.asker.name.empty() ? std::nullopt : std::optional(Seconds{stop.gain_s});
}

}  // namespace

template <>
const Columns<ScoreView>& columns<ScoreView>() {
  using C = Column<ScoreView>;
  static const Columns<ScoreView> kColumns = {
      "Score",
      {
          C::only_cell(">RANK",
                       [](const ScoreView& node) {
                         return node.rank > 0 ? std::optional(node.rank) : std::nullopt;
                       }),
          C("node", &ScoreView::node).cell("NODE"),
          C("gpuType", &ScoreView::gpu_type).cell("GPU TYPE", type_shown<ScoreView>()),
          C("passes", &ScoreView::passes, "Filter lets the node pass"),
          C("verdict", &ScoreView::verdict, "Pass, or the code of the refusal"),
          C("message", &ScoreView::message, "What kube-scheduler shows; empty where it passes"),
          C("score", &ScoreView::score, "0 to 10, as prioritize answers").cell(">SCORE"),
          C("rank", &ScoreView::rank, "1 is the best of the nodes that pass; 0: it does not"),
          C::only_cell(">SAMPLES/S", feature_shown("throughput_samples_per_s")),
          C("source", &ScoreView::source, kSourceAbout).cell("~SOURCE", source_shown<ScoreView>()),
          C::only_cell(">~CER", feature_shown("cer")),
          C("extrapolated", &ScoreView::extrapolated, kExtrapolatedAbout),
          C("feasible", &ScoreView::feasible, "Started now it meets the deadline; absent: unknown")
              .cell("MEETS DEADLINE"),
          C::only_cell(">FREE AFTER", feature_shown("free_gpus_after")),
          C("features", &ScoreView::features, "The numbers that rank it, by name"),
          C::only_cell("VERDICT",
                       [](const ScoreView& node) { return node.passes ? "passes" : node.message; }),
      }};
  return kColumns;
}

template <>
const Columns<ScoresView>& columns<ScoresView>() {
  using C = Column<ScoresView>;
  static const Columns<ScoresView> kColumns = {
      "Scores",
      {
          C("pod", &ScoresView::pod, "NAMESPACE/NAME"),
          C("uid", [](const ScoresView& view) { return if_any(view.uid); }),
          C(
              "policy", [](const ScoresView& view) { return if_any(view.policy); }, "The ranker"),
          C(
              "schemaVersion", [](const ScoresView&) { return kDecisionSchemaVersion; },
              "Of the list of features"),
          C(
              "model", [](const ScoresView& view) { return if_any(view.model); },
              "That the scores were predicted for; absent: none"),
          C("note", [](const ScoresView& view) { return if_any(view.note); }),
          C(
              "problems", [](const ScoresView& view) { return if_any(view.problems); },
              "Annotations that are unreadable or unknown"),
          C(
              "deadline", [](const ScoresView& view) { return time_of(view.deadline_s); },
              "That feasible is judged by; absent: none"),
      }};
  return kColumns;
}

template <>
const Columns<DecisionCandidate>& columns<DecisionCandidate>() {
  using C = Column<DecisionCandidate>;
  static const Columns<DecisionCandidate> kColumns = {
      "DecisionCandidate",
      {
          C("node", &DecisionCandidate::node),
          C("score", &DecisionCandidate::score),
          C("features", &DecisionCandidate::features, "The numbers that ranked it, by name"),
      }};
  return kColumns;
}

template <>
const Columns<DecisionOutcome>& columns<DecisionOutcome>() {
  using C = Column<DecisionOutcome>;
  static const Columns<DecisionOutcome> kColumns = {
      "DecisionOutcome",
      {
          C("node", &DecisionOutcome::node),
          C("boundAt", [](const DecisionOutcome& outcome) { return Time{outcome.bound_s}; }),
      }};
  return kColumns;
}

template <>
const Columns<DecisionStop>& columns<DecisionStop>() {
  using C = Column<DecisionStop>;
  using Stop = const DecisionStop&;
  static const Columns<DecisionStop> kColumns = {
      "DecisionStop",
      {
          C(
              "for", [](Stop stop) { return asker_of(stop); },
              "NAMESPACE/NAME of the task that gains; absent: others took the pods away"),
          C(
              "gainSeconds", [](Stop stop) { return gain_of(stop); },
              "By which that task is expected to start earlier, than if it had waited until all "
              "runs that are stopped for it had ended; of a slow run that moves: to end earlier"),
          C(
              "savesDeadline",
              [](Stop stop) {
                return stop.asker.name.empty() ? std::nullopt : std::optional(stop.saves_deadline);
              },
              "That task is expected to meet its deadline now, and not by waiting"),
          C("lostGpuSeconds", &DecisionStop::lost_gpu_s,
            "By this stop: work to be done again, and start-up"),
          C("workLeft", &DecisionStop::work_left, "Share of its work that is still to do"),
          C("risksDeadline", &DecisionStop::risks_deadline,
            "It would have met its deadline, and may miss it now"),
      }};
  return kColumns;
}

template <>
const Columns<DecisionRow>& columns<DecisionRow>() {
  using C = Column<DecisionRow>;
  std::vector<std::string_view> verbs;
  for (const Verb verb : kVerbs)
    verbs.push_back(to_string(verb));
  static const Columns<DecisionRow> kColumns = {
      "Decision",
      {
          C("id", &DecisionRow::id).cell(">~ID"),
          C("schemaVersion", &DecisionRow::schema_version),
          C("time", [](const DecisionRow& row) { return Time{row.time_s}; }).cell("TIME"),
          C("verb", [](const DecisionRow& row) { return to_string(row.verb); })
              .one_of(verbs)
              .cell("VERB"),
          C("podUid", &DecisionRow::pod_uid, "Of the pod, or of the Job that carries the plan"),
          C("namespace", [](const DecisionRow& row) { return row.pod.ns; }),
          C("name", [](const DecisionRow& row) { return row.pod.name; }),
          C::only_cell("POD", &DecisionRow::pod),
          C("plan", &DecisionRow::plan_id, "Empty: none"),
          C("policy", &DecisionRow::policy),
          C("optionsHash", &DecisionRow::options_hash,
            "Fingerprint of the options that it was made with"),
          C("snapshotVersion", &DecisionRow::snapshot_version),
          C("nodesAsked", &DecisionRow::nodes_asked),
          C("result", &DecisionRow::result).cell("RESULT"),
          C("durationMicroseconds", &DecisionRow::duration_us),
          C("reasons", &DecisionRow::reasons, "Nodes by verdict"),
          C("candidates", &DecisionRow::candidates, "The best nodes, best first")
              .cell("CANDIDATES AND REASONS", candidates_text),
          C("outcome", &DecisionRow::outcome, "What the watch saw later")
              .cell("OUTCOME",
                    [](const DecisionRow& row) {
                      return row.outcome ? "on " + row.outcome->node : "";
                    }),
          C("stop", &DecisionRow::stop, "Of a decision that stops a running task"),
          C::only_cell(
              "FOR",
              [](const DecisionRow& row) { return row.stop ? asker_of(*row.stop) : std::nullopt; })
              .wide(),
          C::only_cell(
              ">GAIN",
              [](const DecisionRow& row) { return row.stop ? gain_of(*row.stop) : std::nullopt; })
              .wide(),
          C::only_cell(">LOST GPU S",
                       [](const DecisionRow& row) {
                         return row.stop ? std::optional(row.stop->lost_gpu_s) : std::nullopt;
                       })
              .wide(),
          C::only_cell(">~US",
                       [](const DecisionRow& row) { return format("{:.0f}", row.duration_us); }),
      }};
  return kColumns;
}

}  // namespace slackline::wire
