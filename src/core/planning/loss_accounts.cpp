#include "slackline/core/planning/loss_accounts.h"

#include <algorithm>

namespace slackline::core {

LossAccounts::Account& LossAccounts::of(QueueNumber queue) {
  if (queue >= accounts_.size()) accounts_.resize(std::size_t{queue} + 1);
  return accounts_[queue];
}

void LossAccounts::use(QueueNumber queue, double from_s, double until_s, double gpus) {
  std::deque<Use>& uses = of(queue).uses;
  uses.push_back({from_s, until_s, gpus});
  while (uses.front().until_s < until_s - kAccountedFor_s)
    uses.pop_front();
}

void LossAccounts::charge(QueueNumber queue, double at_s, double gpu_s) {
  std::deque<Charge>& charges = of(queue).charges;
  charges.push_back({at_s, gpu_s});
  lost_gpu_s_ += gpu_s;
  while (charges.front().at_s < at_s - kAccountedFor_s)
    charges.pop_front();
}

double LossAccounts::used_gpu_s(QueueNumber queue, double now_s) const {
  double sum_gpu_s = 0;
  if (queue >= accounts_.size()) return sum_gpu_s;
  for (const Use& use : accounts_[queue].uses)
    sum_gpu_s += used_lately_gpu_s(use.from_s, use.until_s, use.gpus, now_s);
  return sum_gpu_s;
}

double LossAccounts::lost_gpu_s(QueueNumber queue, double now_s) const {
  double sum_gpu_s = 0;
  if (queue >= accounts_.size()) return sum_gpu_s;
  for (const Charge& charge : accounts_[queue].charges)
    if (charge.at_s > now_s - kAccountedFor_s) sum_gpu_s += charge.gpu_s;
  return sum_gpu_s;
}

double used_lately_gpu_s(double from_s, double until_s, double gpus, double now_s) {
  const double since_s = std::max(from_s, now_s - kAccountedFor_s);
  return gpus * std::max(0.0, std::min(until_s, now_s) - since_s);
}

}  // namespace slackline::core
