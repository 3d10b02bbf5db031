// Slots against brute force, and over many pods that come and go.
#include <algorithm>
#include <map>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "slackline/core/cluster/slots.h"

namespace slackline::core {
namespace {

using Slots = std::vector<int>;

int draw(std::mt19937& random, int below) {
  return std::uniform_int_distribution<int>(0, below - 1)(random);
}

int gpus_of(const SlotLayout& layout, const Slots& slots) {
  std::set<int> gpus;
  for (const int slot : slots)
    gpus.insert(layout.gpu_of(slot));
  return static_cast<int>(gpus.size());
}

// Over all sets of `count` free slots.
int fewest_gpus(const SlotLayout& layout, unsigned named, int count) {
  int fewest = layout.slots + 1;
  for (unsigned set = 0; set < 1U << layout.slots; ++set) {
    if ((set & named) != 0 || __builtin_popcount(set) != count) continue;
    Slots slots;
    for (int slot = 0; slot < layout.slots; ++slot)
      if ((set >> slot & 1U) != 0) slots.push_back(slot);
    fewest = std::min(fewest, gpus_of(layout, slots));
  }
  return fewest;
}

TEST(SlotsProperty, AreFreeAndOnAsFewGpusAsPossible) {
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    const SlotLayout layout{1 + draw(random, 9), 1 + draw(random, 5)};
    const auto named = static_cast<unsigned>(draw(random, 1 << layout.slots));
    SlotsInUse in_use;
    for (int slot = 0; slot < layout.slots; ++slot)
      if ((named >> slot & 1U) != 0) in_use.named.push_back(slot);
    std::shuffle(in_use.named.begin(), in_use.named.end(), random);
    const int free = layout.slots - __builtin_popcount(named);
    const int count = 1 + draw(random, layout.slots);
    const auto chosen = choose_slots(layout, in_use, count);
    ASSERT_EQ(chosen.has_value(), count <= free);
    if (!chosen) continue;
    ASSERT_EQ(chosen->size(), static_cast<std::size_t>(count));
    for (const int slot : *chosen)
      ASSERT_EQ(named >> slot & 1U, 0U);
    ASSERT_TRUE(std::adjacent_find(chosen->begin(), chosen->end(), std::greater_equal<>()) ==
                chosen->end());
    ASSERT_EQ(gpus_of(layout, *chosen), fewest_gpus(layout, named, count));
    std::shuffle(in_use.named.begin(), in_use.named.end(), random);
    ASSERT_EQ(choose_slots(layout, in_use, count), chosen) << "whatever the order";
  }
}

// 16 pods of half a GPU on 8 GPUs, some of which went away and came again meanwhile.
TEST(SlotsProperty, HalvesFillEveryGpuExactly) {
  const SlotLayout layout{16, 8};
  for (unsigned seed = 0; seed < 1000; ++seed) {
    std::mt19937 random(seed);
    std::vector<int> held;  // one slot of each pod
    for (int step = 0; held.size() < 16; ++step) {
      ASSERT_LT(step, 1000);
      if (!held.empty() && draw(random, 4) == 0) {
        held.erase(held.begin() + draw(random, static_cast<int>(held.size())));
        continue;
      }
      const auto chosen = choose_slots(layout, {held, 0}, 1);
      ASSERT_TRUE(chosen);
      std::map<int, int> before;
      for (const int slot : held)
        ++before[layout.gpu_of(slot)];
      const bool half_free = std::any_of(before.begin(), before.end(),
                                         [](const auto& gpu) { return gpu.second == 1; });
      ASSERT_EQ(before[layout.gpu_of(chosen->front())], half_free ? 1 : 0) << "no GPU is broken up";
      held.push_back(chosen->front());
    }
    std::map<int, int> pods;
    for (const int slot : held)
      ++pods[layout.gpu_of(slot)];
    ASSERT_EQ(pods.size(), 8U);
    for (const auto& [gpu, count] : pods)
      ASSERT_EQ(count, 2) << "GPU " << gpu << ", seed " << seed;
  }
}

}  // namespace
}  // namespace slackline::core
