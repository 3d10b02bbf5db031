// LossAccounts: what the tasks of each queue have made others lose over the last day, and the GPU
// time that the queue itself has used. Policies bound the one by the other.
//
// GPU-seconds; times are seconds on the clock of the plan. What ended longer ago than a day is
// forgotten. Queues are numbers from 0 on (PlanTask::queue).
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <vector>

namespace slackline::core {

inline constexpr double kAccountedFor_s = 86400;

using QueueNumber = std::uint32_t;

class LossAccounts {
 public:
  // A run of the queue that has ended.
  void use(QueueNumber queue, double from_s, double until_s, double gpus);
  // A task of the queue had others stopped.
  void charge(QueueNumber queue, double at_s, double gpu_s);
  // Its tasks stop nobody before that.
  void bar(QueueNumber queue, double until_s) { of(queue).barred_until_s = until_s; }

  // Over the day before now_s.
  double used_gpu_s(QueueNumber queue, double now_s) const;
  double lost_gpu_s(QueueNumber queue, double now_s) const;
  bool is_barred(QueueNumber queue, double now_s) const {
    return queue < accounts_.size() && now_s < accounts_[queue].barred_until_s;
  }
  // Charged to all queues, ever.
  double lost_gpu_s() const { return lost_gpu_s_; }

 private:
  struct Use {
    double from_s;
    double until_s;
    double gpus;
  };
  struct Charge {
    double at_s;
    double gpu_s;
  };
  struct Account {
    std::deque<Use> uses;
    std::deque<Charge> charges;
    double barred_until_s = 0;
  };
  Account& of(QueueNumber queue);

  std::vector<Account> accounts_;
  double lost_gpu_s_ = 0;
};

// What the tasks of a queue may make others lose within a day.
struct LossBudget {
  double least_gpu_s = 0;
  double share = 0;  // of the GPU time that the queue used, if that is more

  double of(double used_gpu_s) const { return std::max(least_gpu_s, share * used_gpu_s); }
};

// GPU-seconds of a run from from_s to until_s that lie in the day before now_s.
double used_lately_gpu_s(double from_s, double until_s, double gpus, double now_s);

}  // namespace slackline::core
