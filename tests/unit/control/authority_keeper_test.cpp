#include "control/trust/authority_keeper.h"

#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <sstream>

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include "control/trust/private_file.h"
#include "slackline/base/text.h"
#include "support/fake_clock.h"
#include "support/special_files.h"
#include "support/temporary_folder.h"

namespace slackline::control {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

// Numbered; validity and names are written as text: "ca 1 0 900", "server 2 of ca 1 0 90 name".
class FakeAuthorityMaker final : public AuthorityMaker {
 public:
  Result<Authority> make_authority(const Validity& validity,
                                   const Authority* before) const override {
    const std::string text = format("ca {} {} {}\n", ++made, validity.from_s, validity.until_s);
    Authority out{text, "key of " + text, ""};
    if (before == nullptr) return out;
    const std::string old = before->certificates.substr(0, before->certificates.find('\n') + 1);
    out.certificates += old;
    out.cross = "cross by " + old;
    return out;
  }
  Result<CertifiedKey> make_leaf(const Authority& authority, CertificateUse use,
                                 const std::vector<std::string>& names,
                                 const Validity& validity) const override {
    const std::string text = format(
        "{} {} of {} {} {} {}\n", use == CertificateUse::kServer ? "server" : "client", ++made,
        split(authority.certificates, ' ')[1], validity.from_s, validity.until_s, names.front());
    return CertifiedKey{text + authority.cross, "key of " + text};
  }
  Result<AuthorityValidity> inspect(const Authority& authority) const override {
    const auto lines = split(authority.certificates, '\n');
    const auto words = split(lines.front(), ' ');
    if (words.size() != 4 || authority.key.empty())
      return fail(ErrorCode::kInvalidArgument, "unreadable");
    AuthorityValidity out{{number(words[2]), number(words[3])}, 0};
    if (lines.size() > 2) out.before_until_s = number(split(lines[1], ' ')[3]);
    return out;
  }
  Result<Validity> inspect_leaf(const Authority& authority, const CertifiedKey& leaf,
                                CertificateUse use,
                                const std::vector<std::string>& names) const override {
    const auto words = split(split(leaf.chain, '\n').front(), ' ');
    if (words.size() != 7 || words[0] != (use == CertificateUse::kServer ? "server" : "client") ||
        words[3] != split(authority.certificates, ' ')[1] || words[6] != names.front())
      return fail(ErrorCode::kInvalidArgument, "broken");
    return Validity{number(words[4]), number(words[5])};
  }
  mutable int made = 0;

 private:
  static double number(std::string_view text) { return parse_number(text).value(); }
};

class FakeAuthorityStore final : public cluster::AuthorityStore {
 public:
  Result<cluster::StoredAuthority> read() override {
    if (down) return fail(ErrorCode::kUnavailable, "connection refused");
    return secret;
  }
  Status replace(const MutualCertificates& certificates, const std::string& version) override {
    if (before_write) std::exchange(before_write, nullptr)();
    if (secret.resource_version != version) return fail(ErrorCode::kConflict, "changed");
    secret = cluster::StoredAuthority{certificates, version + "1"};
    return {};
  }
  Status publish(const MutualCertificates& certificates) override {
    if (!beside) return fail(ErrorCode::kNotFound, "no ConfigMap");
    trusted = certificates.authority.certificates;
    client = certificates.client.chain;
    return {};
  }

  cluster::StoredAuthority secret{{}, "1"};  // as it is installed
  std::string trusted;
  std::string client;
  bool down = false;
  bool beside = true;  // kube-scheduler's Secret and ConfigMap are there
  std::function<void()> before_write;
};

class AuthorityKeeperTest : public ::testing::Test {
 protected:
  std::unique_ptr<AuthorityKeeper> keeper(const std::string& name = "a") {
    return std::make_unique<AuthorityKeeper>(
        AuthorityOptions{.server_names = {"extender"},
                         .client_name = "kube-scheduler",
                         .life_s = 300,
                         .authority_life_s = 3000,
                         .file = folder.file(name + ".pem"),
                         .trust_file = folder.file(name + "-clients.pem")},
        store, maker, metrics, clock);
  }
  std::string text_of(const std::string& name) const {
    std::ifstream stream(folder.file(name));
    std::ostringstream text;
    text << stream.rdbuf();
    return text.str();
  }
  const MutualCertificates& stored() const { return store.secret.certificates; }
  bool metric_is(const std::string& name, double value) const {
    const std::string text = metrics.expose();
    const std::size_t at = text.find("\n" + name + " ");
    return at != std::string::npos &&
           parse_number(trim(text.substr(at + name.size() + 2,
                                         text.find('\n', at + 1) - at - name.size() - 2)))
                   .value_or(-1) == value;
  }

  test::TemporaryFolder folder;
  test::FakeClock clock;
  obs::MetricsRegistry metrics;
  FakeAuthorityMaker maker;
  FakeAuthorityStore store;
};

TEST_F(AuthorityKeeperTest, TheFirstOneMakesEverythingAndGivesTheClientItsShare) {
  ASSERT_TRUE(keeper()->look());
  EXPECT_EQ(text_of("a.pem"), stored().server.key + stored().server.chain);
  EXPECT_EQ(text_of("a-clients.pem"), stored().authority.certificates);
  EXPECT_EQ(store.trusted, stored().authority.certificates);
  EXPECT_EQ(store.client, stored().client.chain);
  EXPECT_THAT(store.client, HasSubstr("kube-scheduler"));
}

TEST_F(AuthorityKeeperTest, ReplicasAgree) {
  store.before_write = [this] { ASSERT_TRUE(keeper("b")->look()); };
  ASSERT_TRUE(keeper("a")->look());
  EXPECT_EQ(text_of("a.pem"), text_of("b.pem"));
  EXPECT_EQ(text_of("a-clients.pem"), text_of("b-clients.pem"));
}

TEST_F(AuthorityKeeperTest, CertificatesAreMadeAnewUnderTheSameAuthority) {
  const auto one = keeper();
  ASSERT_TRUE(one->look());
  const MutualCertificates before = stored();
  clock.advance(150);  // not yet two thirds
  ASSERT_TRUE(one->look());
  EXPECT_EQ(stored().server.chain, before.server.chain);
  clock.advance(60);
  ASSERT_TRUE(one->look());
  EXPECT_EQ(stored().authority.certificates, before.authority.certificates);
  EXPECT_NE(stored().server.chain, before.server.chain);
  EXPECT_NE(stored().client.chain, before.client.chain);
  EXPECT_EQ(text_of("a.pem"), stored().server.key + stored().server.chain);
  EXPECT_EQ(store.client, stored().client.chain);
}

TEST_F(AuthorityKeeperTest, ANewAuthorityIsVouchedForByTheOldOneUntilThatExpires) {
  const auto one = keeper();
  ASSERT_TRUE(one->look());
  const MutualCertificates before = stored();
  EXPECT_TRUE(metric_is("slackline_extender_restart_by_timestamp_seconds", 0));
  clock.advance(2000);
  ASSERT_TRUE(one->look());
  EXPECT_NE(stored().authority.certificates, before.authority.certificates);
  EXPECT_THAT(stored().authority.certificates, EndsWith(before.authority.certificates))
      << "both are trusted, on both ends";
  EXPECT_EQ(store.trusted, stored().authority.certificates);
  EXPECT_EQ(text_of("a-clients.pem"), stored().authority.certificates);
  EXPECT_THAT(stored().server.chain, HasSubstr("cross by " + before.authority.certificates));
  EXPECT_THAT(stored().client.chain, HasSubstr("cross by " + before.authority.certificates));
  EXPECT_FALSE(metric_is("slackline_extender_restart_by_timestamp_seconds", 0));
  clock.advance(1500);  // the old one has expired
  ASSERT_TRUE(one->look());
  EXPECT_TRUE(metric_is("slackline_extender_restart_by_timestamp_seconds", 0));
}

TEST_F(AuthorityKeeperTest, NoCertificateOutlivesItsAuthority) {
  clock.advance(10);
  const auto one = keeper();
  ASSERT_TRUE(one->look());
  store.secret.certificates.authority.certificates =
      format("ca 7 {} {}\n", clock.wall_s() - 10, clock.wall_s() + 100);
  ASSERT_TRUE(one->look());
  EXPECT_EQ(
      maker
          .inspect_leaf(stored().authority, stored().server, CertificateUse::kServer, {"extender"})
          ->until_s,
      clock.wall_s() + 100);
}

TEST_F(AuthorityKeeperTest, ASecretOfAnOlderVersionIsReplaced) {
  store.secret = cluster::StoredAuthority{{{"old ca", "", ""}, {"old", "old"}, {}}, "7"};
  ASSERT_TRUE(keeper()->look());
  EXPECT_EQ(text_of("a.pem"), stored().server.key + stored().server.chain);
  EXPECT_EQ(store.client, stored().client.chain);
}

TEST_F(AuthorityKeeperTest, ItServesBeforeTheSchedulerIsInstalled) {
  store.beside = false;
  const auto one = keeper();
  EXPECT_FALSE(one->look());
  EXPECT_EQ(text_of("a.pem"), stored().server.key + stored().server.chain);
  store.beside = true;
  ASSERT_TRUE(one->look());
  EXPECT_EQ(store.client, stored().client.chain);
}

TEST_F(AuthorityKeeperTest, WithoutAnApiServerItServesItsOwnAndThenTheSharedOne) {
  store.down = true;
  const auto one = keeper();
  ASSERT_TRUE(one->start());
  one->stop();
  EXPECT_THAT(text_of("a.pem"), HasSubstr("server"));
  store.down = false;
  ASSERT_TRUE(one->look());
  EXPECT_EQ(text_of("a.pem"), stored().server.key + stored().server.chain);
}

TEST(PrivateFileTest, NobodyElseReadsItAndNoLinkIsFollowed) {
  const test::TemporaryFolder folder;
  const std::string file = folder.file("key.pem");
  const std::string elsewhere = folder.file("elsewhere");
  std::ofstream(elsewhere) << "precious";
  ASSERT_EQ(symlink(elsewhere.c_str(), (file + ".new").c_str()), 0);
  ASSERT_TRUE(replace_private_file(file, "secret"));
  std::string text;
  std::getline(std::ifstream(elsewhere), text);
  EXPECT_EQ(text, "precious");
  std::getline(std::ifstream(file), text);
  EXPECT_EQ(text, "secret");
  std::ofstream(file + ".new") << "left by somebody, readable by all";
  ASSERT_TRUE(replace_private_file(file, "next"));
  struct stat info{};
  ASSERT_EQ(stat(file.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0600U);
  EXPECT_FALSE(std::filesystem::exists(file + ".new"));
  const Status lost = replace_private_file("/nowhere/at/all.pem", "x");
  ASSERT_FALSE(lost);
  EXPECT_THAT(lost.error().message, HasSubstr("/nowhere/at/all.pem"));
}

TEST(PrivateFileTest, WhatIsNotARegularFileStaysAsItWas) {
  const test::TemporaryFolder folder;
  const std::vector<std::string> names = test::make_special_files(folder);
  ASSERT_EQ(::symlink(folder.file("fifo").c_str(), folder.file("key.pem.new").c_str()), 0);
  const std::string before = test::listing(folder);
  for (const std::string& name : names) {
    const Status refused = replace_private_file(folder.file(name), "secret");
    ASSERT_FALSE(refused) << name;
    EXPECT_THAT(refused.error().message, HasSubstr("move it away")) << name;
  }
  EXPECT_FALSE(replace_private_file(folder.file("key.pem"), "secret")) << "its draft is a FIFO";
  EXPECT_EQ(test::listing(folder), before);
}

}  // namespace
}  // namespace slackline::control
