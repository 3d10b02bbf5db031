#include "http/routes/pages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "http/routes/answers.h"
#include "message/views.h"
#include "support/fake_clock.h"

namespace slackline::http {
namespace {

using ::testing::HasSubstr;

class PagesTest : public ::testing::Test {
 protected:
  static Request asking(std::string_view path, Parameters query = {}) {
    Request request;
    request.path = path;
    request.query = std::move(query);
    return request;
  }

  std::string keep(const Request& request, std::size_t rows) {
    return pages_.keep(request, rows, std::make_shared<const int>(7));
  }
  bool has(const Request& request, const std::string& id) {
    return bool(pages_.find<int>(request, id));
  }

  test::FakeClock clock_;
  Pages pages_{clock_};
};

TEST_F(PagesTest, AListBelongsToItsQuestionInAnyForm) {
  const Request question = asking("/v1/tasks", {{"namespace", "team-a"}, {"limit", "3"}});
  const std::string id = keep(question, 10);
  EXPECT_TRUE(has(question, id));
  EXPECT_TRUE(
      has(asking("/v1/tasks",
                 {{"namespace", "team-a"}, {"limit", "9"}, {"output", "csv"}, {"continue", "x"}}),
          id));
  EXPECT_FALSE(has(asking("/v1/tasks", {{"namespace", "team-b"}}), id));
  EXPECT_FALSE(has(asking("/v1/tasks"), id)) << "whoever may see one namespace gets no further";
  EXPECT_FALSE(has(asking("/v1/queue", {{"namespace", "team-a"}}), id));
  EXPECT_FALSE(pages_.find<double>(question, id)) << "rows of another kind";
  const auto gone = pages_.find<int>(question, "0");
  ASSERT_FALSE(gone);
  EXPECT_EQ(failure(gone.error()).status, 410);
}

TEST_F(PagesTest, AListIsKeptForAMinuteAfterItWasAskedFor) {
  const Request question = asking("/v1/nodes");
  const std::string id = keep(question, 10);
  for (int part = 0; part < 3; ++part) {
    clock_.advance(Pages::kLife_s - 1);
    EXPECT_TRUE(has(question, id));
  }
  clock_.advance(Pages::kLife_s + 1);
  EXPECT_FALSE(has(question, id));
}

TEST_F(PagesTest, TheOldestGiveWayToTheNewest) {
  const Request question = asking("/v1/nodes");
  const std::string first = keep(question, Pages::kMaxRows / 2);
  const std::string second = keep(question, Pages::kMaxRows / 2);
  EXPECT_TRUE(has(question, first));
  const std::string third = keep(question, 1);
  EXPECT_FALSE(has(question, second)) << "it was asked for longest ago";
  EXPECT_TRUE(has(question, first));
  const std::string huge = keep(question, 2 * Pages::kMaxRows);
  EXPECT_TRUE(has(question, huge)) << "the newest stays, however long";
  EXPECT_FALSE(has(question, third));
  std::vector<std::string> small;
  for (std::size_t i = 0; i <= Pages::kMaxLists; ++i)
    small.push_back(keep(question, 1));
  EXPECT_FALSE(has(question, small.front()));
  EXPECT_TRUE(has(question, small[1]));
}

TEST_F(PagesTest, AnEmptyContinueIsTheBeginning) {
  const auto window = window_of(asking("/v1/nodes", {{"continue", ""}, {"limit", "2"}}));
  ASSERT_TRUE(window) << window.error().message;
  EXPECT_EQ(window->offset, 0u);
  EXPECT_EQ(window->limit, 2u);
  EXPECT_TRUE(window->list.empty());
  for (const char* wrong : {"500", ".5", "abc.", "abc.-1", "abc.x"}) {
    const auto refused = window_of(asking("/v1/nodes", {{"continue", wrong}}));
    ASSERT_FALSE(refused) << wrong;
    EXPECT_THAT(refused.error().message, HasSubstr("metadata.continue")) << wrong;
  }
}

TEST_F(PagesTest, EveryFormSaysWhereItGoesOn) {
  const auto rows = [] { return std::vector<GpuPoolView>(3); };
  for (const char* output : {"json", "yaml", "csv", "table"}) {
    const Response part =
        list(asking("/v1/nodes", {{"limit", "2"}, {"output", output}}), pages_, rows);
    ASSERT_EQ(part.headers.size(), 1u) << output;
    EXPECT_EQ(part.headers[0].first, "Slackline-Continue");
    const Request on =
        asking("/v1/nodes", {{"continue", part.headers[0].second}, {"output", output}});
    const Response rest = list(on, pages_, [] { return std::vector<GpuPoolView>(); });
    EXPECT_EQ(rest.status, 200) << rest.body;
    EXPECT_TRUE(rest.headers.empty()) << output;
  }
}

TEST_F(PagesTest, AnOffsetShowsAPartOfTheListOfNowAndKeepsNothing) {
  const auto rows = [] { return std::vector<GpuPoolView>(5); };
  const Response part = list(asking("/v1/nodes", {{"limit", "2"}, {"offset", "2"}}), pages_, rows);
  EXPECT_THAT(part.body, HasSubstr(R"("continue":"","remainingItemCount":1)"));
  EXPECT_TRUE(part.headers.empty());
  const Response behind = list(asking("/v1/nodes", {{"offset", "9"}}), pages_, rows);
  EXPECT_THAT(behind.body, HasSubstr(R"("items":[],)"));
  const auto both = window_of(asking("/v1/nodes", {{"offset", "1"}, {"continue", "a.1"}}));
  ASSERT_FALSE(both);
  EXPECT_THAT(both.error().message, HasSubstr("one of continue and offset"));
}

}  // namespace
}  // namespace slackline::http
