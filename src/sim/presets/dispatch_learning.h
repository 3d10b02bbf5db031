// What the learned policies of the preset `paper001` are made of: the table and the shared network,
// both on the times of a task's two parts over their nominal times.
//
// The network is trained on what the table dispatched in some worlds, the same number of tasks of
// each. The same training gives the same network, bit by bit.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sim/presets/dispatch_run.h"
#include "slackline/core/learning/correction_net.h"

namespace slackline::sim {

// The table, which learns from every task that ends.
DispatchPolicy dispatch_by_table();
// The network; where it has seen nothing like it, that table.
DispatchPolicy dispatch_by_net(std::shared_ptr<const core::CorrectionNet> net);

inline constexpr int kDispatchHistory = 6000;  // tasks that were dispatched before
// The tasks that came before those that are judged. Where nodes come and go, on the 8 with which
// that begins: nobody has lived on those that join later.
void live_through_history(DispatchLoad load, std::uint64_t world, int tasks,
                          const DispatchPolicy& policy);

// What the network is told of a part of a task and a node, in this order. No node and no type of
// node has a name.
std::vector<std::string> dispatch_features();

struct NetTraining {
  std::vector<std::uint64_t> worlds;  // at least one
  double per_minute = 48;
  bool clean = false;
  int decisions = kDispatchHistory;           // of all worlds, at least one of each
  std::uint64_t seed = 0;                     // of the weights at first and of the order of samples
  DispatchNodes nodes = DispatchNodes::kAll;  // lived on as a history

  int decisions_of_a_world() const { return decisions / static_cast<int>(worlds.size()); }
};
using TrainingStep = std::function<void(std::string_view)>;

core::CorrectionNet train_net(const NetTraining& training, const TrainingStep& step = {});

// The mean of |ln(observed / predicted)| over both parts of new tasks of the same worlds.
struct NetError {
  double before = 0;  // by nominal times
  double after = 0;   // by the network
};
NetError error_of_net(const core::CorrectionNet& net, const NetTraining& training);

}  // namespace slackline::sim
