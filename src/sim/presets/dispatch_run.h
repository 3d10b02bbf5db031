// One simulated run of paper 001's cluster: a task is given to a node when it arrives, and waits
// there, first come, first served, for a CPU slot and then for a GPU. Private to src/sim/presets.
//
// A world is one draw of what no prediction knows: a factor on the GPU time of each family on each
// type of node. Besides, each task has noise on its GPU time, a busy neighbour GPU slows a task by
// 8 %, and a task takes 2 GB from its arrival to its end: where a node's memory is short, its CPU
// part takes 1.6 times as long and its GPU part 1.3 times.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "slackline/core/learning/correction_table.h"

namespace slackline::sim {

struct DispatchFamily {
  std::string_view name;
  double cpu_s = 0;               // at size 1
  std::array<double, 2> gpu_s{};  // the same, on a K80 and on a P4
};
struct DispatchNode {
  std::string_view type;
  std::size_t gpu = 0;  // 0: K80, 1: P4
  int gpus = 0;
  double memory_gb = 0;
};

inline constexpr std::size_t kMostDispatchNodes = 11;
// Tasks that arrive before nodes join, and before others leave (DispatchNodes::kChanging).
inline constexpr std::size_t kDispatchNodesJoin = 1000;
inline constexpr std::size_t kDispatchNodesLeave = 2000;
inline constexpr std::array<DispatchFamily, 3> kDispatchFamilies = {
    {{"intrusion", 20, {45, 30}}, {"synopsis", 60, {25, 24}}, {"face", 10, {60, 75}}}};
inline constexpr std::array<DispatchNode, 4> kDispatchNodes = {
    {{"2xK80", 0, 2, 32}, {"4xP4", 1, 4, 32}, {"4xK80", 0, 4, 16}, {"2xP4", 1, 2, 8}}};

struct DispatchTask {
  std::size_t family = 0;
  double size = 1;
  double arrives_s = 0;
  double noise = 1;
};

// Which of the 11 nodes there are.
enum class DispatchNodes {
  kAll,
  kFirst,     // the 8 with which kChanging begins
  kChanging,  // 8; from the 1000th task on 11, from the 2000th on 9
};

struct DispatchLoad {
  int tasks = 1500;
  double per_minute = 48;
  bool clean = false;  // predictions are right, and nobody slows anybody
  DispatchNodes nodes = DispatchNodes::kAll;
};

using HiddenFactors =
    std::array<std::array<double, kDispatchNodes.size()>, kDispatchFamilies.size()>;
HiddenFactors draw_hidden(const DispatchLoad& load, std::uint64_t world);
std::vector<DispatchTask> draw_dispatched(const DispatchLoad& load, std::uint64_t seed);

// A node to which a task could be given now.
struct DispatchChoice {
  core::CorrectionTable::Circumstances placed;
  double predicted_s = 0;  // from now to its end, as first come, first served makes of it
  double relative = 0;     // its GPU time here over the mean of the GPU types
  std::size_t residents = 0;
  bool idle_gpu = false;
  std::size_t task = 0;  // in order of arrival
  std::size_t node = 0;  // the same in every run, whoever else is there
  double at_s = 0;       // now
};

// The two parts of a task: in seconds, or over the nominal ones.
struct DispatchTimes {
  double cpu = 1;
  double gpu = 1;
};

struct DispatchPolicy {
  std::function<double(const DispatchChoice&)> cost;  // the least gets the task
  // Of a task that ended: where it was placed, its response time, and its times over the nominal
  // ones. Empty: it does not learn.
  std::function<void(const DispatchChoice&, double response_s, const DispatchTimes& took)> learn{};
  // By which the nominal times of a task are multiplied that is placed so. Empty: by 1.
  std::function<DispatchTimes(const core::CorrectionTable::Circumstances&)> factor{};
  // predicted_s knows all that the world does to those that are there and to the task itself: it is
  // the true end, unless others come to the node before.
  bool clairvoyant = false;
  // Which of all choices, at least one, gets the task. Empty: the one of the least cost.
  std::function<std::size_t(std::span<const DispatchChoice>)> choose{};
};

struct DispatchOutcome {
  double mean_response_s = 0;
  double throughput_per_s = 0;
};

DispatchOutcome run_dispatch(const DispatchLoad& load, const HiddenFactors& hidden,
                             const std::vector<DispatchTask>& tasks, const DispatchPolicy& policy);

}  // namespace slackline::sim
