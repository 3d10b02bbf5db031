// Whether more training makes a task hardly better: in each of the last three rounds its loss fell
// by less than 1 % of the range that was seen (003). It looks the same on a plateau before a fall,
// so nothing is stopped by it without leave.
#pragma once

namespace slackline::core {

class DiminishingReturns {
 public:
  // A round in which the task made iterations: how much its fitted curve fell over them, over
  // LossHistory::range().
  void observe(double drop);
  bool reached() const;

 private:
  int rounds_ = 0;  // running
};

}  // namespace slackline::core
