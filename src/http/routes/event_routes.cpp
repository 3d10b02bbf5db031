#include <memory>
#include <random>
#include <string>
#include <utility>

#include "http/routes/answers.h"
#include "http/routes/api_routes.h"
#include "http/routes/openapi.h"
#include "slackline/base/text.h"

namespace slackline::http {
namespace {

constexpr double kBetweenEvents_s = 1;
constexpr double kBetweenComments_s = 15;
constexpr const char* kBegin = "retry: 2000\n\n";

// Of one daemon: another one's ids are never equal to its own.
class ChangeFeed {
 public:
  ChangeFeed(std::function<std::uint64_t()> version, const Clock& clock)
      : version_(std::move(version)), clock_(clock), run_(random_name()) {}

  std::string id() const { return format("{}.{}", run_, version_()); }
  double now_s() const { return clock_.steady_s(); }

 private:
  static std::string random_name() {
    std::random_device device;
    return format("{:08x}", device());
  }

  const std::function<std::uint64_t()> version_;
  const Clock& clock_;
  const std::string run_;
};

// What one client is sent.
class ChangeStream {
 public:
  ChangeStream(std::shared_ptr<const ChangeFeed> feed, std::string since)
      : feed_(std::move(feed)), seen_(std::move(since)), comment_at_s_(feed_->now_s()) {}

  std::string next() {
    const double now_s = feed_->now_s();
    if (now_s >= event_at_s_) {
      if (std::string id = feed_->id(); id != seen_) {
        seen_ = std::move(id);
        event_at_s_ = now_s + kBetweenEvents_s;
        comment_at_s_ = now_s + kBetweenComments_s;
        return format("id: {}\nevent: change\ndata: {{\"id\":\"{}\"}}\n\n", seen_, seen_);
      }
    }
    if (now_s < comment_at_s_) return {};
    comment_at_s_ = now_s + kBetweenComments_s;
    return ": still here\n\n";
  }

 private:
  std::shared_ptr<const ChangeFeed> feed_;
  std::string seen_;
  double event_at_s_ = 0;
  double comment_at_s_;
};

Response get_events(const std::shared_ptr<const ChangeFeed>& feed, const Request& request) {
  Response response;
  response.content_type = "text/event-stream";
  response.body = kBegin;
  response.headers = {{"Cache-Control", "no-store"}, {"X-Accel-Buffering", "no"}};
  response.follow = [stream = ChangeStream(feed, given(request, "since"))]() mutable {
    return std::optional(stream.next());
  };
  return response;
}

}  // namespace

void add_event_routes(Router& router, std::function<std::uint64_t()> version, const Clock& clock) {
  const auto feed = std::make_shared<const ChangeFeed>(std::move(version), clock);
  router.add({.method = "GET",
              .pattern = "/v1/events",
              .handler = [feed](const Request& request) { return get_events(feed, request); },
              .pool = Pool::kHot,
              .parameters =
                  std::vector<Parameter>{
                      namespace_parameter("Whose right to `get events.slackline.dev` is asked for"),
                      {.name = "since", .about = "The id of the last event that was seen"}},
              .namespace_parameter = "namespace",
              .operation = {.id = "watchEvents",
                            .summary = "Server-sent events: something has changed, ask again",
                            .answer = "A stream of events, each with an id and no other data",
                            .form = Operation::Form::kEvents,
                            .failures = {{503, "Too many streams are open: poll instead"}}}});
}

}  // namespace slackline::http
