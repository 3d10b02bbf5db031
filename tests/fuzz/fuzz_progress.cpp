// Progress of Jobs: what is posted, what is noted, and the tokens that come with it. What is taken
// is possible, and what is noted reads back as it was.
#include <cmath>

#include "fuzz/fuzz.h"
#include "wire/kube/progress_note.h"
#include "wire/kube/token_review_codec.h"
#include "wire/rest/progress_codec.h"

using namespace slackline;
using namespace slackline::fuzz;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = text_of(data, size);
  if (const auto report = wire::read_posted_progress(text)) {
    require(report->total > 0 && report->iteration >= 0 && report->iteration <= report->total,
            "an iteration is one of the total");
    const ProgressNote note = with_report(nullptr, *report, std::nullopt, 1.8e9);
    const auto read = wire::read_progress(wire::encode_progress(note));
    require(read && read->iteration == note.iteration && read->total == note.total,
            "what was taken can be noted");
  }
  if (const auto note = wire::read_progress(text)) {
    require(note->done() >= 0 && note->done() <= 1, "a share is a share");
    require(!note->loss || std::isfinite(*note->loss), "a loss is a number");
    require(wire::read_progress(wire::encode_progress(*note)).has_value(), "a note reads back");
  }
  wire::names_audience(text, "slackline");
  return 0;
}
