#include "cli/copy_service.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "client/list.h"
#include "config/load.h"
#include "obs/log.h"
#include "slackline/base/text.h"
#include "wire/rest/history_codec.h"
#include "wire/rest/portrait_codec.h"

namespace slackline::cli {
namespace {

constexpr double kAgain_s = 15;
constexpr int kAttempts = 40;
constexpr double kTimeout_s = 5;  // of one part of a list
constexpr std::size_t kAtOnce = 500;
constexpr double kToDisk_s = 10;  // how long a part of the history may take

}  // namespace

std::unique_ptr<CopyService> CopyService::make(const config::CopySettings& from,
                                               const control::Portraits& known,
                                               control::PortraitQuery& portraits,
                                               store::Journal& journal) {
  if (from.url.empty()) return {};
  std::unique_ptr<CopyService> service(new CopyService(from, portraits, journal));
  service->needs_portraits_ = known.known().get()->portraits.empty();
  const auto newest = journal.history({.limit = 1});
  service->needs_history_ = newest && newest->rows.empty();
  if (!service->needs_portraits_ && !service->needs_history_) return {};
  return service;
}

void CopyService::start() {
  worker_.start([this] {
    for (int attempt = 1; attempt <= kAttempts; ++attempt) {
      try_once(attempt == 1);
      if (!needs_portraits_ && !needs_history_) return;
      if (!worker_.wait(kAgain_s)) return;
    }
  });
}

void CopyService::stop() {
  worker_.stop();
  worker_.join();
}

void CopyService::try_once(bool tell) {
  const auto note = [&](std::string_view what, const Result<std::size_t>& copied) {
    if (copied)
      obs::log_info(
          "copied",
          {{"what", what}, {"from", from_.url}, {"count", static_cast<std::int64_t>(*copied)}});
    else if (tell)
      obs::log_info("not_copied_yet", {{"what", what},
                                       {"from", from_.url},
                                       {"reason", copied.error().message},
                                       {"tried_for_s", kAttempts * kAgain_s}});
    return !copied;
  };
  auto client = connect();
  if (needs_portraits_)
    needs_portraits_ = note("portraits", client ? copy_portraits(*client) : fail(client.error()));
  if (needs_history_)
    needs_history_ = note("history", client ? copy_history(*client) : fail(client.error()));
}

Result<client::Client> CopyService::connect() const {
  client::ClientOptions server{.url = from_.url, .ca_file = from_.ca_file};
  server.timeout_s = kTimeout_s;
  if (!from_.token_file.empty()) {
    SLACKLINE_ASSIGN(const std::string token, config::read_text_file(from_.token_file));
    server.token = trim(token);
  }
  return client::Client(std::move(server));
}

Result<std::size_t> CopyService::copy_portraits(client::Client& client) {
  SLACKLINE_ASSIGN(const std::string list,
                   client::get_list(client, "/v1/portraits?packed=true", {"json"}));
  SLACKLINE_ASSIGN(const std::vector<std::string> packed,
                   wire::read_packed_portraits(list, control::kMostPortraits));
  for (std::size_t begin = 0; begin < packed.size(); begin += kAtOnce) {
    const auto part = std::span(packed).subspan(begin, std::min(kAtOnce, packed.size() - begin));
    SLACKLINE_TRY(portraits_.take(std::vector(part.begin(), part.end())));
  }
  return packed.size();
}

Result<std::size_t> CopyService::copy_history(client::Client& client) {
  std::size_t count = 0;
  std::string next;
  do {
    const std::string path = format("/v1/history?output=json&limit={}{}", kAtOnce,
                                    next.empty() ? "" : "&continue=" + client::encode_query(next));
    SLACKLINE_ASSIGN(client::Page page, client.get_page(path, "application/json"));
    SLACKLINE_ASSIGN(std::vector<FinishedTask> tasks, wire::read_finished_tasks(page.body));
    for (FinishedTask& task : tasks)
      journal_.restore(std::move(task));
    if (!journal_.flush(kToDisk_s))
      return fail(ErrorCode::kUnavailable, "the journal cannot be written now");
    count += tasks.size();
    next = std::move(page.next);
  } while (!next.empty() && !worker_.is_stopping());
  if (count == 0) return fail(ErrorCode::kNotFound, "it has none");
  return count;
}

}  // namespace slackline::cli
