// A report as one page for people: HTML with drawings, or Markdown. Nothing in it is loaded from
// elsewhere, and nothing runs. Numbers are those of rows.h; what was not measured is left out, and
// the estimate is marked.
#pragma once

#include <cstddef>
#include <string>

#include "message/report_views.h"

namespace slackline::wire {

// Groups beyond these are left out, and the page says so; `-o csv` has all of them.
inline constexpr std::size_t kMostGroupsOfPage = 200;

std::string report_html(const ReportView& view);
std::string report_markdown(const ReportView& view);

}  // namespace slackline::wire
