#include "slackline/core/elastic/diminishing_returns.h"

namespace slackline::core {
namespace {

constexpr double kLeastReturnOfRound = 0.01;
constexpr int kRoundsRunning = 3;

}  // namespace

void DiminishingReturns::observe(double drop) {
  rounds_ = drop < kLeastReturnOfRound ? rounds_ + 1 : 0;
}

bool DiminishingReturns::reached() const {
  return rounds_ >= kRoundsRunning;
}

}  // namespace slackline::core
