#include "cli/copy_service.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "client/list.h"
#include "config/load.h"
#include "obs/log.h"
#include "slackline/base/text.h"
#include "wire/rest/decision_codec.h"
#include "wire/rest/history_codec.h"
#include "wire/rest/model_codec.h"
#include "wire/rest/portrait_codec.h"

namespace slackline::cli {
namespace {

constexpr double kAgain_s = 15;
constexpr int kAttempts = 40;
constexpr double kTimeout_s = 5;  // of one part of a list
constexpr std::size_t kAtOnce = 500;
constexpr std::size_t kMostDecisions = 10000;  // some 15 MB
constexpr double kToDisk_s = 10;               // how long a part of the history may take

bool is_described(const ModelDescriptor& descriptor) {
  ModelDescriptor nothing;
  nothing.model = descriptor.model;
  return descriptor != nothing;
}

bool is_learnt(const ModelView& model) {
  return is_described(model.descriptor) ||
         std::any_of(model.types.begin(), model.types.end(),
                     [](const ModelTypeView& type) { return type.samples > 0; });
}

}  // namespace

CopyService::CopyService(const config::CopySettings& from, const Stores& stores)
    : from_(from), stores_(stores) {
  if (stores.known.known().get()->portraits.empty())
    missing_.push_back({"portraits", &CopyService::copy_portraits});
  const auto newest = stores.journal.history({.limit = 1});
  if (newest && newest->rows.empty()) missing_.push_back({"history", &CopyService::copy_history});
  const auto decided = stores.journal.query({.limit = 1});
  if (decided && decided->rows.empty())
    missing_.push_back({"decisions", &CopyService::copy_decisions});
  const control::KnownPtr known = stores.models.known().get();
  if (std::none_of(known->models.begin(), known->models.end(), is_learnt))
    missing_.push_back({"models", &CopyService::copy_models});
}

std::unique_ptr<CopyService> CopyService::make(const config::CopySettings& from,
                                               const Stores& stores) {
  if (from.url.empty()) return {};
  std::unique_ptr<CopyService> service(new CopyService(from, stores));
  if (service->missing_.empty()) return {};
  return service;
}

void CopyService::start() {
  worker_.start([this] {
    for (int attempt = 1; attempt <= kAttempts; ++attempt) {
      try_once(attempt);
      if (missing_.empty()) return;
      if (!worker_.wait(kAgain_s)) return;
    }
  });
}

void CopyService::stop() {
  worker_.stop();
  worker_.join();
}

void CopyService::try_once(int attempt) {
  auto client = connect();
  std::erase_if(missing_, [&](const Part& part) {
    const Result<std::size_t> copied = client ? (this->*part.copy)(*client) : fail(client.error());
    if (copied)
      obs::log_info("copied", {{"what", part.what},
                               {"from", from_.url},
                               {"count", static_cast<std::int64_t>(*copied)}});
    else if (attempt == 1)
      obs::log_info("not_copied_yet", {{"what", part.what},
                                       {"from", from_.url},
                                       {"reason", copied.error().message},
                                       {"tried_for_s", kAttempts * kAgain_s}});
    // That the other one has nothing, either, is no fault.
    else if (attempt == kAttempts && copied.error().code != ErrorCode::kNotFound)
      obs::log_warning(
          "not_copied",
          {{"what", part.what}, {"from", from_.url}, {"reason", copied.error().message}});
    return copied.has_value();
  });
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
                   wire::read_listed_portraits(list, control::kMostPortraits));
  if (packed.empty()) return fail(ErrorCode::kNotFound, "it has none");
  for (std::size_t begin = 0; begin < packed.size(); begin += kAtOnce) {
    const auto part = std::span(packed).subspan(begin, std::min(kAtOnce, packed.size() - begin));
    SLACKLINE_TRY(stores_.portraits.take(std::vector(part.begin(), part.end())));
  }
  return packed.size();
}

// At most `most`, or a part's length more.
Result<std::size_t> CopyService::copy_pages(client::Client& client, const std::string& path,
                                            std::size_t most, const TakePage& take) {
  std::size_t count = 0;
  std::string next;
  do {
    const std::string part = format("{}?output=json&limit={}{}", path, kAtOnce,
                                    next.empty() ? "" : "&continue=" + client::encode_query(next));
    SLACKLINE_ASSIGN(client::Page page, client.get_page(part, "application/json"));
    SLACKLINE_ASSIGN(const std::size_t taken, take(page.body));
    if (!stores_.journal.flush(kToDisk_s))
      return fail(ErrorCode::kUnavailable, "the journal cannot be written now");
    count += taken;
    next = std::move(page.next);
  } while (!next.empty() && count < most && !worker_.is_stopping());
  if (count == 0) return fail(ErrorCode::kNotFound, "it has none");
  return count;
}

Result<std::size_t> CopyService::copy_history(client::Client& client) {
  constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();
  return copy_pages(client, "/v1/history", kAll, [&](std::string_view json) -> Result<std::size_t> {
    SLACKLINE_ASSIGN(std::vector<FinishedTask> tasks, wire::read_finished_tasks(json));
    for (FinishedTask& task : tasks)
      stores_.journal.restore(std::move(task));
    return tasks.size();
  });
}

// The newest first, each before those that are here. What it cannot have all of is not begun again:
// it has the newest.
Result<std::size_t> CopyService::copy_decisions(client::Client& client) {
  std::size_t count = 0;
  const auto copied = copy_pages(
      client, "/v1/decisions", kMostDecisions, [&](std::string_view json) -> Result<std::size_t> {
        SLACKLINE_ASSIGN(std::vector<DecisionRow> rows, wire::read_listed_decisions(json));
        for (DecisionRow& row : rows)
          stores_.journal.restore(std::move(row));
        count += rows.size();
        return rows.size();
      });
  if (!copied && count == 0) return fail(copied.error());
  return count;
}

// A Service may lead to this replica itself. The store knows runs again, not what was posted.
void CopyService::leave_out_known(std::vector<ThroughputSample>& samples) {
  const auto own = stores_.models.samples(samples.front().model);
  if (!own) return;
  std::erase_if(samples, [&](const ThroughputSample& sample) {
    return sample.run.empty() && std::find(own->begin(), own->end(), sample) != own->end();
  });
}

Status CopyService::copy_model(client::Client& client, const ModelDescriptor& descriptor,
                               bool has_samples) {
  if (has_samples) {
    const std::string path =
        format("/v1/models/{}/samples", client::encode_query(descriptor.model));
    SLACKLINE_ASSIGN(const std::string rows, client::get_list(client, path, {"json"}));
    SLACKLINE_ASSIGN(auto samples, wire::read_listed_samples(rows, descriptor.model));
    leave_out_known(samples);
    if (!samples.empty()) SLACKLINE_TRY(stores_.models.add_samples(std::move(samples)));
  }
  if (is_described(descriptor)) SLACKLINE_TRY(stores_.models.describe(descriptor));
  return {};
}

// One that cannot be copied stops none of the others.
Result<std::size_t> CopyService::copy_models(client::Client& client) {
  SLACKLINE_ASSIGN(const std::string list, client::get_list(client, "/v1/models", {"json"}));
  SLACKLINE_ASSIGN(const std::vector<wire::ListedModel> models, wire::read_listed_models(list));
  Status all;
  for (const auto& [descriptor, has_samples] : models) {
    if (worker_.is_stopping()) break;
    if (copied_models_.contains(descriptor.model) || (!has_samples && !is_described(descriptor)))
      continue;
    if (const Status copied = copy_model(client, descriptor, has_samples); copied)
      copied_models_.insert(descriptor.model);
    else if (all)
      all = fail(copied.error().with_context(format("model {}", printable(descriptor.model, 64))));
  }
  if (!all) return fail(all.error());
  if (copied_models_.empty()) return fail(ErrorCode::kNotFound, "it has learnt of none");
  return copied_models_.size();
}

}  // namespace slackline::cli
