#include "cli/copy_service.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "client/client.h"
#include "client/list.h"
#include "config/load.h"
#include "obs/log.h"
#include "slackline/base/text.h"
#include "wire/rest/portrait_codec.h"

namespace slackline::cli {
namespace {

constexpr double kAgain_s = 15;
constexpr int kAttempts = 40;
constexpr double kTimeout_s = 5;  // of one part of the list
constexpr std::size_t kAtOnce = 500;

}  // namespace

std::unique_ptr<CopyService> CopyService::make(const config::CopySettings& from,
                                               const control::Portraits& known,
                                               control::PortraitQuery& to) {
  if (from.url.empty() || !known.known().get()->portraits.empty()) return {};
  return std::unique_ptr<CopyService>(new CopyService(from, to));
}

void CopyService::start() {
  worker_.start([this] {
    for (int attempt = 1; attempt <= kAttempts; ++attempt) {
      const auto copied = copy();
      if (copied)
        return obs::log_info(
            "portraits_copied",
            {{"from", from_.url}, {"portraits", static_cast<std::int64_t>(*copied)}});
      if (attempt == 1)
        obs::log_info("portraits_not_copied_yet", {{"from", from_.url},
                                                   {"reason", copied.error().message},
                                                   {"tried_for_s", kAttempts * kAgain_s}});
      if (!worker_.wait(kAgain_s)) return;
    }
  });
}

void CopyService::stop() {
  worker_.stop();
  worker_.join();
}

Result<std::size_t> CopyService::copy() {
  client::ClientOptions server{.url = from_.url, .ca_file = from_.ca_file};
  server.timeout_s = kTimeout_s;
  if (!from_.token_file.empty()) {
    SLACKLINE_ASSIGN(const std::string token, config::read_text_file(from_.token_file));
    server.token = trim(token);
  }
  client::Client client(server);
  SLACKLINE_ASSIGN(const std::string list,
                   client::get_list(client, "/v1/portraits?packed=true", {"json"}));
  SLACKLINE_ASSIGN(const std::vector<std::string> packed,
                   wire::read_packed_portraits(list, control::kMostPortraits));
  for (std::size_t begin = 0; begin < packed.size(); begin += kAtOnce) {
    const auto part = std::span(packed).subspan(begin, std::min(kAtOnce, packed.size() - begin));
    SLACKLINE_TRY(to_.take(std::vector(part.begin(), part.end())));
  }
  return packed.size();
}

}  // namespace slackline::cli
