// Moves of running tasks that are advised.
#include "slackline/base/text.h"
#include "wire/rest/rows.h"

namespace slackline::wire {

template <>
const Columns<MovedRun>& columns<MovedRun>() {
  using C = Column<MovedRun>;
  static const Columns<MovedRun> kColumns = {
      "MovedRun",
      {
          C(
              "task", [](const MovedRun& move) { return move.task.str(); }, "NAMESPACE/NAME"),
          C("from", &MovedRun::from),
          C(
              "to", [](const MovedRun& move) { return if_any(move.to); },
              "Absent: once another task has ended"),
          C("lostGpuSeconds", &MovedRun::lost_gpu_s, "Work that would be done again, and start-up"),
      }};
  return kColumns;
}

template <>
const Columns<MoveAdvice>& columns<MoveAdvice>() {
  using C = Column<MoveAdvice>;
  using Advice = const MoveAdvice&;
  static const Columns<MoveAdvice> kColumns = {
      "MoveAdvice",
      {
          C(
              "cause", [](Advice advice) { return to_string(advice.cause); },
              "slow: the task runs slower than predicted; fragmented: it waits for whole nodes")
              .one_of({"slow", "fragmented"}),
          C(
              "speed",
              [](Advice advice) {
                return advice.cause == MoveCause::kSlow ? std::optional(advice.speed)
                                                        : std::nullopt;
              },
              "Of a slow run, as a share of the predicted speed"),
          C(
              "gainSeconds", [](Advice advice) { return Seconds{advice.gain_s}; },
              "By which the task is expected to end (slow) or to start (fragmented) earlier"),
          C("lostGpuSeconds", &MoveAdvice::lost_gpu_s, "By all moves together"),
          C("moves", &MoveAdvice::moves),
      }};
  return kColumns;
}

}  // namespace slackline::wire
