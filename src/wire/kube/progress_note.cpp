#include "wire/kube/progress_note.h"

#include <algorithm>
#include <cmath>

#include "slackline/base/duration.h"
#include "slackline/base/text.h"
#include "slackline/model/contract.h"
#include "wire/format/json_writer.h"

namespace slackline::wire {
namespace {

constexpr std::size_t kMaxNote = 512;
constexpr std::size_t kMaxPhase = 32;
constexpr std::string_view kAt = " at ";
constexpr std::string_view kLoss = "loss ";
constexpr std::string_view kPhase = "phase ";

Error not_ours() {
  return {ErrorCode::kInvalidArgument, "not what Slackline notes of a Job's progress"};
}

// "800 at 2026-11-21T12:00:00Z"
Result<ProgressPoint> read_point(std::string_view text) {
  const std::size_t at = text.find(kAt);
  if (at == std::string_view::npos) return fail(not_ours());
  ProgressPoint point;
  SLACKLINE_ASSIGN(point.iteration, parse_int(text.substr(0, at)));
  SLACKLINE_ASSIGN(point.at_s, parse_rfc3339_s(text.substr(at + kAt.size())));
  return point;
}

// One of the parts that may be absent.
Status read_part(std::string_view part, ProgressNote& note) {
  if (part.starts_with(kLoss)) {
    SLACKLINE_ASSIGN(note.loss, parse_number(part.substr(kLoss.size())));
  } else if (part.starts_with(kPhase)) {
    note.phase = std::string(part.substr(kPhase.size()));
  } else {
    SLACKLINE_ASSIGN(note.first, read_point(part));
  }
  return {};
}

bool is_possible(const ProgressNote& note) {
  const bool counts = note.total > 0 && note.iteration >= 0 && note.iteration <= note.total;
  const bool first =
      !note.first || (note.first->iteration >= 0 && note.first->iteration <= note.iteration &&
                      note.first->at_s <= note.at_s);
  return counts && first && std::isfinite(note.loss.value_or(0)) &&
         (note.phase.empty() || is_phase(note.phase));
}

}  // namespace

bool is_phase(std::string_view text) {
  return !text.empty() && text.size() <= kMaxPhase &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' ||
                  c == '_' || c == '-';
         });
}

std::string encode_progress(const ProgressNote& note) {
  std::string text =
      format("{}/{}{}{}", note.iteration, note.total, kAt, format_rfc3339(note.at_s));
  if (note.first)
    text += format(", {}{}{}", note.first->iteration, kAt, format_rfc3339(note.first->at_s));
  if (note.loss) text += format(", {}{:.6g}", kLoss, *note.loss);
  if (!note.phase.empty()) text += format(", {}{}", kPhase, note.phase);
  return text;
}

Result<ProgressNote> read_progress(std::string_view annotation) {
  if (annotation.size() > kMaxNote) return fail(not_ours());
  const auto parts = split(annotation, ',');
  const std::size_t slash = parts.front().find('/');
  const std::size_t at = parts.front().find(kAt);
  if (slash == std::string_view::npos || at == std::string_view::npos || at < slash)
    return fail(not_ours());
  ProgressNote note;
  SLACKLINE_ASSIGN(note.iteration, parse_int(parts.front().substr(0, slash)));
  SLACKLINE_ASSIGN(note.total, parse_int(parts.front().substr(slash + 1, at - slash - 1)));
  SLACKLINE_ASSIGN(note.at_s, parse_rfc3339_s(parts.front().substr(at + kAt.size())));
  for (std::size_t i = 1; i < parts.size(); ++i)
    SLACKLINE_TRY(read_part(parts[i], note));
  if (!is_possible(note)) return fail(not_ours());
  return note;
}

std::string encode_progress_patch(const Uid& job, const ProgressNote& note) {
  JsonWriter out;
  out.begin_object().key("metadata").begin_object().field("uid", job.str());
  out.key("annotations").begin_object().field(contract::kProgress, encode_progress(note));
  out.end_object().end_object().end_object();
  return out.take();
}

}  // namespace slackline::wire
