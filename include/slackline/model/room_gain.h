// RoomGain: what a task gains from the room that others make for it, as the policy counted it when
// it decided. The gain is of all the runs together that were stopped or made smaller for that
// start, and each of them is told the same.
#pragma once

namespace slackline {

struct RoomGain {
  // The task starts so much earlier than if it had waited until the last of these runs had ended by
  // itself.
  double earlier_s = 0;
  bool saves_deadline = false;  // it is expected to meet its deadline now, and not by waiting

  friend bool operator==(const RoomGain&, const RoomGain&) = default;
};

}  // namespace slackline
