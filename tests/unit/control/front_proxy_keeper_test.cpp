#include "control/trust/front_proxy_keeper.h"

#include <gtest/gtest.h>

#include "support/fake_clock.h"
#include "support/read_text.h"
#include "support/temporary_folder.h"

namespace slackline::control {
namespace {

class NobodyMaker final : public CertificateMaker {
 public:
  Result<CertificateSet> make(const std::vector<std::string>&, const Validity&) const override {
    return CertificateSet{"NOBODY", "LEAF", "KEY"};
  }
  Result<Validity> inspect(const CertificateSet&, const std::vector<std::string>&) const override {
    return fail(ErrorCode::kInternal, "not asked");
  }
};

class FrontProxyKeeperTest : public testing::Test {
 protected:
  std::string in_file() const { return test::read_text(file_); }

  test::TemporaryFolder folder_;
  const std::string file_ = folder_.file("front-proxy.pem");
  Published<FrontProxy> known_;
  Result<FrontProxy> said_ = fail(ErrorCode::kForbidden, "configmaps is forbidden");
  FrontProxyKeeper keeper_{[this] { return said_; }, file_, known_};
  NobodyMaker maker_;
  test::FakeClock clock_;
};

TEST_F(FrontProxyKeeperTest, TrustsNobodyUntilItKnows) {
  ASSERT_TRUE(keeper_.start(maker_, clock_));
  keeper_.stop();
  EXPECT_EQ(in_file(), "NOBODY");
  EXPECT_EQ(known_.get()->client_ca, "");
  said_ = FrontProxy{"PROXY", {"front-proxy-client"}};
  ASSERT_TRUE(keeper_.look());
  EXPECT_EQ(in_file(), "PROXY");
  EXPECT_EQ(*known_.get(), *said_);
}

TEST_F(FrontProxyKeeperTest, FollowsWhatChangesAndKeepsItWhileItCannotAsk) {
  said_ = FrontProxy{"PROXY", {}};
  ASSERT_TRUE(keeper_.start(maker_, clock_));
  keeper_.stop();
  EXPECT_EQ(in_file(), "PROXY");
  said_ = FrontProxy{"NEXT", {}};
  ASSERT_TRUE(keeper_.look());
  EXPECT_EQ(in_file(), "NEXT");
  said_ = fail(ErrorCode::kUnavailable, "connection refused");
  EXPECT_FALSE(keeper_.look());
  EXPECT_EQ(in_file(), "NEXT");
  EXPECT_EQ(known_.get()->client_ca, "NEXT");
}

}  // namespace
}  // namespace slackline::control
