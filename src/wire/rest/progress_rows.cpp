// Progress that a Job reported.
#include "slackline/base/duration.h"
#include "slackline/base/text.h"
#include "wire/kube/progress_note.h"
#include "wire/rest/rows.h"

namespace slackline::wire {

template <>
const Columns<ProgressNote>& columns<ProgressNote>() {
  using C = Column<ProgressNote>;
  using Note = const ProgressNote&;
  static const Columns<ProgressNote> kColumns = {
      "Progress",
      {
          C("iteration", &ProgressNote::iteration, "Finished so far, of the whole task"),
          C("total", &ProgressNote::total),
          C("time", [](Note note) { return Time{note.at_s}; }),
          C("loss", &ProgressNote::loss),
          C("phase", [](Note note) { return if_any(note.phase); }),
          C(
              "workSeconds", [](Note note) { return seconds_of(note.work_s()); },
              "How long the whole task takes at the speed of this attempt; absent: not known yet"),
      }};
  return kColumns;
}

std::string text_of(const ProgressNote& progress) {
  return encode_progress(progress) + "\n";
}

}  // namespace slackline::wire
