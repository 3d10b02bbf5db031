#include "control/trust/key_keeper.h"

#include <gtest/gtest.h>

#include "control/trust/shared_secret.h"
#include "slackline/base/text.h"

namespace slackline::control {
namespace {

constexpr double kLife_s = 900;
using Keys = std::vector<std::string>;

class JumpyClock final : public Clock {
 public:
  double wall_s() const override { return wall_s_; }
  double steady_s() const override { return steady_s_; }
  void advance(double seconds) {
    wall_s_ += seconds;
    steady_s_ += seconds;
  }
  void jump(double seconds) { wall_s_ += seconds; }

 private:
  double wall_s_ = 1.8e9;
  double steady_s_ = 1000;
};

// The API server's Secret.
class FakeKeyStore final : public cluster::KeyStore {
 public:
  Result<cluster::StoredKeys> read() override {
    if (down) return fail(ErrorCode::kUnavailable, "connection refused");
    if (!secret) return fail(ErrorCode::kNotFound, "there is no Secret");
    return *secret;
  }
  Status replace(const cluster::StoredKeys& keys) override {
    if (before_write) std::exchange(before_write, nullptr)();
    if (!secret) return fail(ErrorCode::kNotFound, "there is no Secret");
    if (secret->resource_version != keys.resource_version)
      return fail(ErrorCode::kConflict, "changed");
    secret = cluster::StoredKeys{keys.keys, keys.resource_version + "1"};
    return {};
  }

  std::optional<cluster::StoredKeys> secret = cluster::StoredKeys{{}, "1"};  // as it is installed
  bool down = false;
  std::function<void()> before_write;
};

class KeyKeeperTest : public ::testing::Test {
 protected:
  std::unique_ptr<KeyKeeper> keeper(Keys& into) {
    KeyOptions options;
    options.life_s = kLife_s;
    options.make = [this] { return Result<std::string>(format("key{}", ++made)); };
    options.use = [&into](Keys keys) { into = std::move(keys); };
    return std::make_unique<KeyKeeper>(std::move(options), store, clock);
  }

  JumpyClock clock;
  FakeKeyStore store;
  int made = 0;
  Keys used, others;
};

TEST_F(KeyKeeperTest, TheFirstOneMakesTheKeyAndTheOthersTakeIt) {
  const auto a = keeper(used);
  const auto b = keeper(others);
  store.before_write = [&] { ASSERT_TRUE(b->look()); };  // b is faster
  ASSERT_TRUE(a->look());
  EXPECT_EQ(used, others);
  EXPECT_EQ(used.size(), 1u);
}

TEST_F(KeyKeeperTest, ANewKeySignsOnceAllHaveReadItAndTheOldOneVerifies) {
  const auto a = keeper(used);
  const auto b = keeper(others);
  ASSERT_TRUE(a->look());
  ASSERT_TRUE(b->look());
  clock.advance(kLife_s);
  ASSERT_TRUE(a->look());
  EXPECT_EQ(used, (Keys{"key1", "key2"}));  // the old one still signs
  clock.advance(look_every_s(kLife_s));
  ASSERT_TRUE(b->look());
  EXPECT_EQ(others, (Keys{"key1", "key2"}));
  clock.advance(key_lead_s(kLife_s));
  ASSERT_TRUE(a->look());
  EXPECT_EQ(used, (Keys{"key2", "key1"}));
}

TEST_F(KeyKeeperTest, WhoStartsDuringARotationSignsWithWhatAllKnow) {
  store.secret = cluster::StoredKeys{{{clock.wall_s(), "new"}, {0, "old"}}, "1"};
  ASSERT_TRUE(keeper(used)->look());
  EXPECT_EQ(used, (Keys{"old", "new"}));
}

TEST_F(KeyKeeperTest, OldKeysGoAfterTheirLives) {
  const auto a = keeper(used);
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(a->look());
    clock.advance(kLife_s);
  }
  EXPECT_EQ(used.size(), kKeptKeys + 1);
  EXPECT_EQ(store.secret->keys.front().bytes, "key10");
}

// A clock that is ten years ahead makes one key, and those that are right keep it.
TEST_F(KeyKeeperTest, AWrongClockMakesOneKey) {
  ASSERT_TRUE(keeper(used)->look());
  clock.jump(10 * 365 * 86400.0);
  ASSERT_TRUE(keeper(used)->look());
  clock.jump(-20 * 365 * 86400.0);
  ASSERT_TRUE(keeper(used)->look());
  ASSERT_TRUE(keeper(others)->look());
  EXPECT_EQ(made, 2);
}

TEST_F(KeyKeeperTest, WithoutAnApiServerThereIsNoKeyAndWhatIsKnownStays) {
  store.down = true;
  const auto a = keeper(used);
  EXPECT_FALSE(a->look());
  EXPECT_TRUE(used.empty());
  store.down = false;
  ASSERT_TRUE(a->look());
  store.down = true;
  EXPECT_FALSE(a->look());
  EXPECT_EQ(used.size(), 1u);
}

TEST_F(KeyKeeperTest, ASecretThatIsNotThereIsMissedUntilItIs) {
  store.secret = std::nullopt;
  const auto a = keeper(used);
  EXPECT_FALSE(a->look());
  EXPECT_TRUE(used.empty());
  store.secret = cluster::StoredKeys{{}, "7"};
  ASSERT_TRUE(a->look());
  EXPECT_EQ(used, Keys{"key1"});
}

TEST_F(KeyKeeperTest, WhoMakesNoKeysMissesNoSecret) {
  store.secret = std::nullopt;
  KeyKeeper reader({.make = {}, .use = [this](Keys keys) { used = std::move(keys); }}, store,
                   clock);
  EXPECT_TRUE(reader.look());
  EXPECT_TRUE(used.empty());
  store.down = true;
  EXPECT_FALSE(reader.look());
}

}  // namespace
}  // namespace slackline::control
