// Which runs share a portrait, and whose portrait an unknown family borrows.
#include <gtest/gtest.h>

#include "slackline/core/portrait/family.h"

namespace slackline::core {
namespace {

PortraitIdentity identity(const std::string& model, const std::string& image,
                          const std::string& department = "lab") {
  PortraitIdentity of;
  of.department = department;
  of.owner = "train";
  of.image = image;
  of.model = model;
  return of;
}

Portrait portrait_of(PortraitIdentity of) {
  Portrait portrait;
  portrait.identity = std::move(of);
  portrait.outcomes[0] = 1;
  return portrait;
}

TEST(PortraitFamily, GeneratedSuffixesAreLeftOut) {
  EXPECT_EQ(owner_stem("train-x7k2p"), "train");
  EXPECT_EQ(owner_stem("train-28471230"), "train");
  EXPECT_EQ(owner_stem("train-3f9a0b17c2"), "train");
  EXPECT_EQ(owner_stem("train-0b1c2d3e-1111-4222-8333-444455556666"), "train");
}

// What a workflow or a schedule makes carries its owner's generated name before its own.
TEST(PortraitFamily, StepsOfAWorkflowThatRecursAreOneFamily) {
  for (const char* name : {"nightly-1712345678-train", "nightly-1712432078-train",
                           "nightly-x7k2p-train", "nightly-x7k2p-train-28471230"})
    EXPECT_EQ(owner_stem(name), "nightly-train") << name;
  EXPECT_NE(owner_stem("nightly-1712345678-eval"), "nightly-train");
}

TEST(PortraitFamily, NamesThatPeopleChoseStay) {
  for (const char* name :
       {"train", "exp-17", "resnet-large", "bert-base", "-x7k2p", "train-facade12x"})
    EXPECT_EQ(owner_stem(name), name);
}

TEST(PortraitFamily, TheGenerateNameIsTheExactAnswer) {
  EXPECT_EQ(owner_stem("train-ckpt2", "train-ckpt"), "train-ckpt");
  EXPECT_EQ(owner_stem("train-x7k2p", "train-"), "train");
  EXPECT_EQ(owner_stem("other-x7k2p", "train-"), "other");
}

TEST(PortraitFamily, TheDeclaredFamilyOverridesOwnerImageAndModel) {
  PortraitIdentity one = identity("resnet50", "net:v1");
  PortraitIdentity two = identity("bert", "net:v2");
  EXPECT_NE(portrait_key(one), portrait_key(two));
  one.family = two.family = "nightly";
  EXPECT_EQ(portrait_key(one), portrait_key(two));
  two.mode = WorkloadMode::kInference;
  EXPECT_NE(portrait_key(one), portrait_key(two));
}

TEST(PortraitFamily, RepositoriesHaveNeitherTagNorDigest) {
  EXPECT_EQ(image_repository("registry:5000/team/net:v2"), "registry:5000/team/net");
  EXPECT_EQ(image_repository("registry:5000/team/net"), "registry:5000/team/net");
  EXPECT_EQ(image_repository("net@sha256:00"), "net");
}

TEST(PortraitFamily, TheNearestIsTaggedAndTheOwnOneWins) {
  const Portrait resnet = portrait_of(identity("resnet50", "vision:v1"));
  const Portrait bert = portrait_of(identity("bert", "text:v1"));
  const std::vector<const Portrait*> known{&bert, &resnet};

  const auto near = nearest_portrait(known, identity("resnet101", "vision:v2"));
  ASSERT_TRUE(near);
  EXPECT_EQ(near->portrait, &resnet);
  EXPECT_EQ(near->match, PortraitMatch::kSimilar);
  EXPECT_GT(near->distance, 0);

  const auto own = nearest_portrait(known, bert.identity);
  ASSERT_TRUE(own);
  EXPECT_EQ(own->portrait, &bert);
  EXPECT_EQ(own->match, PortraitMatch::kExact);
}

TEST(PortraitFamily, OfEqualOnesTheOneThatRanLastIsNearest) {
  Portrait before = portrait_of(identity("alexnet", "vision:v1"));
  Portrait last = portrait_of(identity("vgg16", "vision:v1"));
  before.last_s = 1;
  last.last_s = 2;
  const std::vector<const Portrait*> known{&before, &last};
  EXPECT_EQ(nearest_portrait(known, identity("unet", "vision:v1"))->portrait, &last);
}

TEST(PortraitFamily, ParametersTellAlikeModelsApart) {
  Portrait small = portrait_of(identity("gpt-small", "text:v1"));
  Portrait large = portrait_of(identity("gpt-large", "text:v1"));
  small.identity.parameters = 1.2e8;
  large.identity.parameters = 1.5e9;
  const std::vector<const Portrait*> known{&large, &small};
  PortraitIdentity asked = identity("gpt-base", "text:v1");
  asked.parameters = 1.3e8;
  EXPECT_EQ(nearest_portrait(known, asked)->portrait, &small);
  asked.parameters = 1.4e9;
  EXPECT_EQ(nearest_portrait(known, asked)->portrait, &large);
}

TEST(PortraitFamily, NothingIsBorrowedFromStrangersOrFromFamiliesWithoutARun) {
  const Portrait bert = portrait_of(identity("bert", "text:v1"));
  Portrait empty = portrait_of(identity("resnet50", "vision:v1"));
  empty.outcomes[0] = 0;
  Portrait serving = portrait_of(identity("resnet50", "vision:v1"));
  serving.identity.mode = WorkloadMode::kInference;
  const Portrait elsewhere = portrait_of(identity("resnet50", "vision:v1", "other"));
  const std::vector<const Portrait*> known{&bert, &empty, &serving, &elsewhere};
  EXPECT_FALSE(nearest_portrait(known, identity("resnet50", "vision:v1")));
}

}  // namespace
}  // namespace slackline::core
