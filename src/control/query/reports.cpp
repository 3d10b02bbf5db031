#include "control/query/reports.h"

#include <map>
#include <utility>

#include "slackline/core/portrait/advice.h"
#include "slackline/core/portrait/book.h"

namespace slackline::control {
namespace {

constexpr std::size_t kHistoryPage = 1000;

std::optional<std::int64_t> enough_for(const Portrait& portrait, const GpuType& gpu_type,
                                       double now_s) {
  core::AdviceQuestion question;
  question.asked = portrait.asked;
  question.requests = portrait.requests;
  question.gpu_type = gpu_type;
  question.now_s = now_s;
  for (const Placement& shape : core::smaller_shapes(portrait.asked))
    question.shapes.push_back({shape, std::nullopt});
  const auto gpus = core::advise(portrait, question).gpus;
  return gpus ? std::optional<std::int64_t>(gpus->advised.gpus()) : std::nullopt;
}

}  // namespace

GpusNeeded gpus_needed_by(std::shared_ptr<const core::PortraitBook> book, double now_s) {
  using Enough = std::map<std::pair<std::string, std::string>, std::optional<std::int64_t>>;
  return [book = std::move(book), now_s, known = std::make_shared<Enough>()](
             const FinishedTask& task) -> std::optional<std::int64_t> {
    if (!book) return std::nullopt;
    const auto portrait = book->portraits.find(task.family);
    if (portrait == book->portraits.end()) return std::nullopt;
    const auto [at, first] = known->try_emplace({task.family, task.gpu_type.str()});
    if (first) at->second = enough_for(*portrait->second, task.gpu_type, now_s);
    return at->second;
  };
}

Status Reports::each(const std::string& ns, double since_s,
                     const std::function<void(const FinishedTask&)>& look) const {
  HistoryQuery query;
  query.ns = ns;
  query.since_s = since_s;
  query.limit = kHistoryPage;
  for (;;) {
    SLACKLINE_ASSIGN(const HistoryPage page, queries_.history(query));
    for (const FinishedTask& task : page.rows)
      look(task);
    if (page.next.empty()) return {};
    query.continue_from = page.next;
  }
}

Result<ReportView> Reports::make(const ReportQuestion& question) const {
  ReportMaker maker(question, gpus_needed_by(portraits_.get(), clock_.wall_s()));
  SLACKLINE_TRY(each(question.ns, question.from_s, [&](const auto& task) { maker.add(task); }));
  ReportView view = maker.make();
  if (idle_ != nullptr)
    for (const IdleHolder& holder : *idle_->get())
      if (question.ns.empty() || holder.task.ns == question.ns) view.idle_now.push_back(holder);
  return view;
}

Result<ShadowReportView> Reports::make(const ShadowQuestion& question) const {
  ShadowReportMaker maker(question);
  SLACKLINE_TRY(each(question.ns, question.from_s, [&](const auto& task) { maker.add(task); }));
  return maker.make();
}

}  // namespace slackline::control
