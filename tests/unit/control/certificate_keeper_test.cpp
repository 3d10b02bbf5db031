#include "control/trust/certificate_keeper.h"

#include <fstream>
#include <functional>
#include <optional>
#include <sstream>

#include <gmock/gmock.h>
#include <sys/stat.h>

#include "slackline/base/text.h"
#include "support/fake_clock.h"
#include "support/temporary_folder.h"

namespace slackline::control {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string pem(const std::string& what) {
  return "-----BEGIN CERTIFICATE-----\n" + what + "\n-----END CERTIFICATE-----\n";
}

// Numbered certificates that carry their validity as text.
class FakeCertificateMaker final : public CertificateMaker {
 public:
  Result<CertificateSet> make(const std::vector<std::string>& names,
                              const Validity& validity) const override {
    ++made;
    const std::string what =
        format("{} {} {} {}", made, names.front(), validity.from_s, validity.until_s);
    return CertificateSet{pem(format("authority {}", made)), pem(what), format("key {}\n", made)};
  }
  Result<Validity> inspect(const CertificateSet& set,
                           const std::vector<std::string>& names) const override {
    const std::vector<std::string_view> lines = split(set.certificate, '\n');
    if (lines.size() < 2) return fail(ErrorCode::kInvalidArgument, "unreadable");
    const std::vector<std::string_view> words = split(lines[1], ' ');
    if (words[1] != names.front()) return fail(ErrorCode::kInvalidArgument, "another name");
    return Validity{parse_number(words[2]).value(), parse_number(words[3]).value()};
  }
  mutable int made = 0;
};

// The API server's Secret and configurations.
class FakeCertificateStore final : public cluster::CertificateStore {
 public:
  Result<cluster::StoredCertificates> read() override {
    if (down) return fail(ErrorCode::kUnavailable, "connection refused");
    if (!secret) return fail(ErrorCode::kNotFound, "there is no Secret");
    return *secret;
  }
  Status replace(const CertificateSet& set, const std::string& version) override {
    if (before_write) std::exchange(before_write, nullptr)();
    if (secret->resource_version != version) return fail(ErrorCode::kConflict, "changed");
    secret = cluster::StoredCertificates{set, version + "1"};
    return {};
  }
  Status publish(const std::string& authorities) override {
    if (down) return fail(ErrorCode::kUnavailable, "connection refused");
    published = authorities;
    return {};
  }

  std::optional<cluster::StoredCertificates> secret =
      cluster::StoredCertificates{{}, "1"};  // as it is installed
  std::string published;
  bool down = false;
  std::function<void()> before_write;
};

class CertificateKeeperTest : public ::testing::Test {
 protected:
  std::unique_ptr<CertificateKeeper> keeper(const std::string& name = "a.pem") {
    return std::make_unique<CertificateKeeper>(
        CertificateOptions{
            .listener = "webhook", .names = {"webhook"}, .life_s = 900, .file = file(name)},
        store, maker, clock);
  }
  std::string file(const std::string& name) const { return folder.file(name); }
  std::string served(const std::string& name = "a.pem") const {
    std::ifstream stream(file(name));
    std::ostringstream text;
    text << stream.rdbuf();
    return text.str();
  }

  test::TemporaryFolder folder;
  test::FakeClock clock;
  FakeCertificateMaker maker;
  FakeCertificateStore store;
};

TEST_F(CertificateKeeperTest, TheFirstOneMakesThePairAndPublishesItsAuthority) {
  ASSERT_TRUE(keeper()->look());
  EXPECT_EQ(served(), store.secret->set.key + store.secret->set.certificate);
  EXPECT_EQ(store.published, pem("authority 1"));
  struct stat info{};
  ASSERT_EQ(stat(file("a.pem").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0600U);
}

TEST_F(CertificateKeeperTest, ReplicasAgree) {
  ASSERT_TRUE(keeper("a.pem")->look());
  ASSERT_TRUE(keeper("b.pem")->look());
  EXPECT_EQ(served("a.pem"), served("b.pem"));
  EXPECT_EQ(maker.made, 1);
}

TEST_F(CertificateKeeperTest, WhoComesSecondTakesWhatTheFirstWrote) {
  store.before_write = [this] { ASSERT_TRUE(keeper("b.pem")->look()); };
  ASSERT_TRUE(keeper("a.pem")->look());
  EXPECT_EQ(served("a.pem"), served("b.pem"));
}

TEST_F(CertificateKeeperTest, ARotationIsPublishedBeforeItIsServed) {
  const auto first = keeper("a.pem");
  const auto second = keeper("b.pem");
  ASSERT_TRUE(first->look());
  ASSERT_TRUE(second->look());
  const std::string old = served("a.pem");
  clock.advance(500);  // not yet two thirds
  ASSERT_TRUE(first->look());
  EXPECT_EQ(maker.made, 1);
  clock.advance(100);
  ASSERT_TRUE(first->look());
  EXPECT_EQ(maker.made, 2);
  EXPECT_EQ(store.published, pem("authority 2") + pem("authority 1")) << "both are trusted";
  EXPECT_EQ(served("a.pem"), old) << "some API server may not have heard of it yet";
  ASSERT_TRUE(second->look());
  clock.advance(lead_s(900));
  ASSERT_TRUE(first->look());
  ASSERT_TRUE(second->look());
  EXPECT_THAT(served("a.pem"), StartsWith("key 2"));
  EXPECT_EQ(served("a.pem"), served("b.pem"));
}

TEST_F(CertificateKeeperTest, OnlyTheLastTwoAuthoritiesAreTrusted) {
  const auto one = keeper();
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(one->look());
    clock.advance(700);
  }
  EXPECT_EQ(store.published, pem("authority 3") + pem("authority 2"));
}

TEST_F(CertificateKeeperTest, WithoutAnApiServerItServesItsOwnAndThenTheSharedOne) {
  store.down = true;
  const auto one = keeper();
  ASSERT_TRUE(one->start());
  one->stop();
  EXPECT_THAT(served(), StartsWith("key 1"));
  store.down = false;
  ASSERT_TRUE(one->look());
  EXPECT_EQ(served(), store.secret->set.key + store.secret->set.certificate);
}

TEST_F(CertificateKeeperTest, WithoutTheSecretItServesItsOwnUntilThatIsThere) {
  store.secret = std::nullopt;
  const auto one = keeper();
  ASSERT_TRUE(one->start());
  one->stop();
  EXPECT_THAT(served(), StartsWith("key 1"));
  EXPECT_EQ(store.published, "") << "nobody is told to trust what no other replica serves";
  store.secret = cluster::StoredCertificates{{}, "7"};
  ASSERT_TRUE(one->look());
  EXPECT_EQ(served(), store.secret->set.key + store.secret->set.certificate);
  EXPECT_EQ(store.published, store.secret->set.authorities);
}

TEST_F(CertificateKeeperTest, ABrokenSecretIsReplaced) {
  store.secret = cluster::StoredCertificates{{"", "garbage", ""}, "7"};
  ASSERT_TRUE(keeper()->look());
  EXPECT_EQ(served(), store.secret->set.key + store.secret->set.certificate);
}

TEST_F(CertificateKeeperTest, ACertificateForOtherNamesIsReplaced) {
  ASSERT_TRUE(keeper()->look());
  CertificateKeeper renamed(
      {.listener = "webhook", .names = {"other"}, .life_s = 900, .file = file("b.pem")}, store,
      maker, clock);
  ASSERT_TRUE(renamed.look());
  EXPECT_THAT(served("b.pem"), HasSubstr("other"));
}

TEST_F(CertificateKeeperTest, AFileThatCannotBeWrittenIsAnError) {
  CertificateKeeper lost(
      {.listener = "webhook", .names = {"n"}, .life_s = 900, .file = "/nowhere/at/all.pem"}, store,
      maker, clock);
  const Status started = lost.start();
  ASSERT_FALSE(started);
  EXPECT_THAT(started.error().message, HasSubstr("/nowhere/at/all.pem"));
}

}  // namespace
}  // namespace slackline::control
