#include "slackline/core/cluster/slots.h"

#include <gtest/gtest.h>

#include "support/object_builders.h"

namespace slackline::core {
namespace {

using test::a_node;
using Slots = std::vector<int>;

const std::string kSlotShare = "example.com/share";

GpuCatalog shares() {
  GpuCatalog catalog;
  catalog.resources = {{kSlotShare, GpuSharing::kTimeslice, true},
                       {"nvidia.com/gpu", GpuSharing::kWhole, false}};
  return catalog;
}

std::optional<Slots> choose(int slots, int gpus, Slots named, std::int64_t count,
                            std::int64_t unnamed = 0) {
  return choose_slots({slots, gpus}, {std::move(named), unnamed}, count);
}

TEST(SlotLayout, IsReadFromTheNode) {
  const GpuCatalog catalog = shares();
  const auto layout = [&](const test::NodeBuilder& node) {
    return slot_layout(node.build(), kSlotShare, catalog);
  };
  const SlotLayout labelled =
      layout(a_node("n").of("A100", 0).resource(kSlotShare, 16).label("nvidia.com/gpu.count", "8"));
  EXPECT_EQ(labelled.slots, 16);
  EXPECT_EQ(labelled.gpus, 8);
  EXPECT_EQ(layout(a_node("n").of("A100", 4).resource(kSlotShare, 16)).gpus, 4) << "its whole GPUs";
  EXPECT_EQ(layout(a_node("n").of("A100", 0).resource(kSlotShare, 16)).gpus, 1) << "nobody tells";
  EXPECT_EQ(
      layout(a_node("n").of("A100", 2).resource(kSlotShare, 4).label("nvidia.com/gpu.count", "x"))
          .gpus,
      2);
  EXPECT_EQ(layout(a_node("n").of("A100", 2)).slots, 0);
}

TEST(SlotLayout, SpreadsSlotsEvenly) {
  const auto gpus = [](SlotLayout layout) {
    Slots all;
    for (int slot = 0; slot < layout.slots; ++slot)
      all.push_back(layout.gpu_of(slot));
    return all;
  };
  EXPECT_EQ(gpus({8, 4}), (Slots{0, 0, 1, 1, 2, 2, 3, 3}));
  EXPECT_EQ(gpus({5, 2}), (Slots{0, 0, 0, 1, 1}));
  EXPECT_EQ(gpus({2, 8}), (Slots{0, 4})) << "more GPUs than slots";
}

TEST(ChooseSlots, FillsTheGpuThatIsInUse) {
  EXPECT_EQ(choose(8, 4, {}, 1), (Slots{0}));
  EXPECT_EQ(choose(8, 4, {4}, 1), (Slots{5}));
  EXPECT_EQ(choose(12, 4, {0, 3, 4}, 1), (Slots{5})) << "the fullest";
  EXPECT_EQ(choose(5, 2, {0}, 2), (Slots{1, 2})) << "before one that nobody uses";
}

TEST(ChooseSlots, TakesAsFewGpusAsPossible) {
  EXPECT_EQ(choose(8, 4, {0, 2}, 2), (Slots{4, 5})) << "not the halves of two";
  EXPECT_EQ(choose(8, 4, {0, 2}, 3), (Slots{1, 4, 5})) << "a whole one and the half of another";
  EXPECT_EQ(choose(8, 4, {1, 2, 5, 6}, 2), (Slots{0, 3})) << "no GPU has two";
}

TEST(ChooseSlots, OthersKeepTheirs) {
  EXPECT_EQ(choose(4, 2, {}, 1, 2), (Slots{2})) << "unnamed ones are the lowest that are free";
  EXPECT_EQ(choose(4, 2, {0}, 2, 1), (Slots{2, 3}));
  EXPECT_EQ(choose(4, 2, {9}, 4), (Slots{0, 1, 2, 3})) << "of a GPU that the node has lost";
}

TEST(ChooseSlots, SaysWhenThereIsNoChoice) {
  EXPECT_FALSE(choose(4, 2, {1, 1}, 1)) << "named twice";
  EXPECT_FALSE(choose(4, 2, {0, 1, 2}, 2));
  EXPECT_FALSE(choose(4, 2, {0}, 1, 3));
  EXPECT_FALSE(choose(0, 2, {}, 1));
  EXPECT_FALSE(choose(4, 2, {}, std::int64_t{1} << 50));
}

TEST(SlotsInUse, CountWhatAPodDidNotAskForAsUntold) {
  SlotsInUse in_use;
  in_use.add(kSlotShare, 2, {{"other", {5}}, {kSlotShare, {3, 4}}});
  in_use.add(kSlotShare, 1, {{kSlotShare, {0, 1, 2}}});
  in_use.add(kSlotShare, 1, {});
  in_use.add(kSlotShare, 0, {{kSlotShare, {7}}});
  EXPECT_EQ(in_use.named, (Slots{3, 4}));
  EXPECT_EQ(in_use.unnamed, 2);
}

}  // namespace
}  // namespace slackline::core
