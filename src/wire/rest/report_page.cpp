#include "wire/rest/report_page.h"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "slackline/base/text.h"
#include "wire/format/bar_svg.h"
#include "wire/format/svg.h"
#include "wire/rest/rows.h"

namespace slackline::wire {
namespace {

constexpr std::size_t kMostBars = 16;
constexpr std::size_t kMostDays = 92;
constexpr double kPercent = 100;

// Colours of Okabe and Ito, which the colour-blind can tell apart.
constexpr std::string_view kPageStyle = R"css(
:root{color-scheme:light dark;--back:#fff;--card:#f4f6f8;--text:#1c2733;--soft:#5b6875;--line:#d7dde3;
--asked:#9aa7b4;--held:#56b4e9;--used:#0072b2;--good:#009e73;--wait:#e69f00}
@media(prefers-color-scheme:dark){:root{--back:#12171d;--card:#1c242d;--text:#e6ebf0;--soft:#9fadba;
--line:#33404d;--asked:#66737f;--held:#56b4e9;--used:#2f8fd0;--good:#2bb88c;--wait:#e6a92e}}
body{margin:0;background:var(--back);color:var(--text);font:15px/1.5 system-ui,sans-serif}
main{max-width:1000px;margin:0 auto;padding:24px 20px 60px}
h1{font-size:26px;margin:0 0 4px}h2{font-size:18px;margin:36px 0 8px}
.sub,figcaption,.notes{color:var(--soft)}figure{margin:0}figcaption{font-size:13px;margin-bottom:8px}
.cards{display:flex;flex-wrap:wrap;gap:12px;margin:20px 0 0}
.card{background:var(--card);border-radius:8px;padding:12px 16px;min-width:130px}
.card b{display:block;font-size:22px}.card span{font-size:13px;color:var(--soft)}
.wide{overflow-x:auto}table{border-collapse:collapse;font-size:13px;white-space:nowrap}
th,td{padding:5px 10px;border-bottom:1px solid var(--line);text-align:left}
th{color:var(--soft);font-weight:600;vertical-align:bottom}td.r,th.r{text-align:right}
.key i{display:inline-block;width:12px;height:10px;margin:0 5px 0 14px;border-radius:2px}
svg{max-width:100%;height:auto}svg text{font:12px system-ui,sans-serif;fill:var(--text)}
.label{text-anchor:end}.tick{text-anchor:middle}svg text.tick{fill:var(--soft)}
.grid{stroke:var(--line)}.axis{stroke:var(--soft)}
.asked{fill:var(--asked);background:var(--asked)}.held{fill:var(--held);background:var(--held)}
.used{fill:var(--used);background:var(--used)}.good{fill:var(--good);background:var(--good)}
.p95{fill:var(--asked);background:var(--asked)}.wait{fill:var(--wait);background:var(--wait)}
@media print{main{max-width:none}h2{break-after:avoid}figure{break-inside:avoid}}
)css";

std::string hours(double value) {
  return value < 10 ? format("{:.2f}", value) : format("{:.0f}", value);
}

std::string share_text_of(const std::optional<double>& share) {
  return share ? format("{:.0f} %", kPercent * *share) : "not measured";
}

std::string name_of(const ReportRow& row) {
  return row.period.empty() ? row.title : format("{}, {}", row.title, row.period);
}

std::string title_of(const ReportView& view) {
  std::string title = format("GPU report by {}", to_string(view.by));
  if (!view.ns.empty()) title += " of the namespace " + printable(view.ns, 64);
  return title;
}

std::string window_of(const ReportView& view) {
  std::string window = format("Runs that ended from {} to {}", format_rfc3339(view.from_s),
                              format_rfc3339(view.to_s));
  if (view.compare_s)
    window += format(", compared before and since {}", format_rfc3339(*view.compare_s));
  return window + ". Hours are of whole runs.";
}

std::vector<ReportRow> first_rows(const std::vector<ReportRow>& rows, std::size_t most) {
  return {rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(std::min(most, rows.size()))};
}

std::string left_out(std::size_t shown, std::size_t all) {
  return shown < all ? format("{} of {} rows are shown; csv and json have all.", shown, all) : "";
}

// Everything that is text goes through here.
std::string element(std::string_view tag, std::string_view text, std::string_view css = {}) {
  return format("<{0}{1}>{2}</{0}>", tag, css.empty() ? "" : format(" class=\"{}\"", css),
                markup_escaped(text));
}

std::string html_table(const TextTable& table) {
  std::string out = "<div class=\"wide\"><table><thead><tr>";
  const std::vector<TableColumn>& columns = table.columns();
  for (const TableColumn& column : columns)
    out += element("th", column.name, column.right ? "r" : "");
  out += "</tr></thead><tbody>\n";
  for (const std::vector<std::string>& row : table.rows()) {
    out += "<tr>";
    for (std::size_t i = 0; i < row.size(); ++i)
      out += element("td", row[i].empty() ? "-" : row[i], columns.at(i).right ? "r" : "");
    out += "</tr>\n";
  }
  return out + "</tbody></table></div>\n";
}

std::string cards_of(const ReportRow& row) {
  std::string out;
  if (!row.period.empty()) out += element("h2", row.period == "before" ? "Before" : "Since then");
  out += "<div class=\"cards\">";
  const auto card = [&](const std::string& number, const std::string& about) {
    out += "<div class=\"card\">" + element("b", number) + element("span", about) + "</div>";
  };
  card(std::to_string(row.runs), format("runs, {} succeeded", row.succeeded));
  card(hours(row.gpu_hours), format("GPU-hours held, {} asked for", hours(row.asked_gpu_hours)));
  card(share_text_of(row.gpu_use()), row.gpu_use() ? format("GPU use, of the {} that was measured",
                                                            share_text_of(row.measured_share()))
                                                   : "GPU use");
  if (row.cpu_use()) card(share_text_of(row.cpu_use()), "CPU use, of what was requested");
  if (row.returned_gpu_hours > 0) card(hours(row.returned_gpu_hours), "GPU-hours returned");
  if (row.advised_gpu_hours > 0)
    card(hours(row.returnable_gpu_hours), "GPU-hours returnable (estimate)");
  if (row.deadlines > 0)
    card(format("{} of {}", row.deadlines_met, row.deadlines), "deadlines met");
  if (row.wait_median_s)
    card(format_duration(*row.wait_median_s),
         format("median wait; 19 of 20 at most {}", format_duration(*row.wait_p95_s)));
  return out + "</div>\n";
}

// A drawing with its heading; `key` explains the colours.
std::string figure_of(const BarChart& chart, bool columns,
                      const std::vector<std::pair<std::string, std::string>>& key) {
  std::string out = element("h2", chart.title) + "<figure><figcaption class=\"key\">" +
                    markup_escaped(chart.description);
  for (const auto& [css, name] : key)
    out += format("<i class=\"{}\"></i>{}", css, markup_escaped(name));
  return out + "</figcaption>" + (columns ? column_chart(chart) : bar_chart(chart)) + "</figure>\n";
}

std::string hours_chart(const std::vector<ReportRow>& rows) {
  BarChart chart{.id = "hours-",
                 .title = "Asked for, held and used",
                 .description = "Used: of the part that was measured.",
                 .unit = "GPU-hours"};
  for (const ReportRow& row : rows) {
    BarRow bars{.label = name_of(row), .bars = {}, .text = {}};
    bars.bars.push_back({row.asked_gpu_hours, "asked", "asked " + hours(row.asked_gpu_hours)});
    bars.bars.push_back({row.gpu_hours, "held", "held " + hours(row.gpu_hours)});
    if (row.gpu_use())
      bars.bars.push_back({row.used_gpu_hours, "used", "used " + hours(row.used_gpu_hours)});
    bars.text = format("{} held, {} measured", hours(row.gpu_hours),
                       row.gpu_use() ? share_text_of(row.measured_share()) : "nothing");
    chart.rows.push_back(std::move(bars));
  }
  return figure_of(chart, false, {{"asked", "asked for"}, {"held", "held"}, {"used", "used"}});
}

using Share = std::function<std::optional<double>(const ReportRow&)>;

// Only rows that have the number; empty if none has.
std::string share_chart(BarChart chart, const std::vector<ReportRow>& rows, const Share& share,
                        const std::string& css) {
  chart.unit = "%";
  chart.most = kPercent;
  for (const ReportRow& row : rows)
    if (const auto value = share(row))
      chart.rows.push_back(
          {name_of(row), {{kPercent * *value, css, share_text_of(value)}}, share_text_of(value)});
  return chart.rows.empty() ? "" : figure_of(chart, false, {});
}

std::string waits_chart(const std::vector<ReportRow>& rows) {
  BarChart chart{.id = "waits-",
                 .title = "Waits",
                 .description = "From the creation of a Job to its first start.",
                 .unit = "minutes"};
  constexpr double kMinute_s = 60;
  for (const ReportRow& row : rows) {
    if (!row.wait_median_s) continue;
    const std::string median = format_duration(*row.wait_median_s);
    const std::string p95 = format_duration(*row.wait_p95_s);
    chart.rows.push_back({name_of(row),
                          {{*row.wait_median_s / kMinute_s, "wait", "median " + median},
                           {*row.wait_p95_s / kMinute_s, "p95", "19 of 20 at most " + p95}},
                          format("{}, {}", median, p95)});
  }
  if (chart.rows.empty()) return {};
  return figure_of(chart, false, {{"wait", "median"}, {"p95", "19 of 20 at most"}});
}

std::string days_chart(const ReportView& view) {
  BarChart chart{
      .id = "days-",
      .title = "By day",
      .description = "Of runs that ended on the day, UTC; days without any are left out.",
      .unit = "GPU-hours"};
  const std::size_t begin = view.days.size() > kMostDays ? view.days.size() - kMostDays : 0;
  for (std::size_t i = begin; i < view.days.size(); ++i) {
    const ReportDay& day = view.days[i];
    const std::string date = format_rfc3339(day.day_s).substr(0, 10);
    BarRow bars{.label = date, .bars = {}, .text = {}};
    bars.bars.push_back({day.gpu_hours, "held", format("{}: held {}", date, hours(day.gpu_hours))});
    if (day.measured_gpu_hours > 0)
      bars.bars.push_back({day.used_gpu_hours, "used",
                           format("{}: used {} of {} measured", date, hours(day.used_gpu_hours),
                                  hours(day.measured_gpu_hours))});
    chart.rows.push_back(std::move(bars));
  }
  if (chart.rows.empty()) return {};
  return figure_of(chart, true, {{"held", "held"}, {"used", "used, of what was measured"}});
}

std::string markdown_table(const TextTable& table) {
  const auto cell = [](const std::string& text) {
    std::string out;
    for (const char c : printable(text.empty() ? "-" : text, 200)) {
      if (c == '|' || c == '<' || c == '\\' || c == '`' || c == '[' || c == '*' || c == '_')
        out += '\\';
      out += c;
    }
    return out;
  };
  std::string head = "|";
  std::string rule = "|";
  for (const TableColumn& column : table.columns()) {
    head += " " + cell(column.name) + " |";
    rule += column.right ? "---:|" : "---|";
  }
  std::string out = head + "\n" + rule + "\n";
  for (const std::vector<std::string>& row : table.rows()) {
    out += "|";
    for (const std::string& text : row)
      out += " " + cell(text) + " |";
    out += "\n";
  }
  return out;
}

}  // namespace

std::string report_html(const ReportView& view) {
  const std::string title = title_of(view);
  std::string out = format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
      "<title>{}</title><style>{}</style></head>\n<body><main>\n",
      markup_escaped(title), kPageStyle);
  out += element("h1", title) + element("p", window_of(view), "sub") + "\n";
  for (const ReportRow& row : view.totals)
    out += cards_of(row);
  const std::vector<ReportRow> drawn = first_rows(view.rows, kMostBars);
  if (!drawn.empty()) out += hours_chart(drawn);
  out += share_chart({.id = "use-",
                      .title = "GPU use",
                      .description = "Mean use of the GPU-hours that were measured."},
                     drawn, &ReportRow::gpu_use, "used");
  out += share_chart({.id = "deadlines-",
                      .title = "Deadlines met",
                      .description = "Of the runs that had a deadline."},
                     drawn, &ReportRow::in_time, "good");
  out += waits_chart(drawn) + days_chart(view);
  const std::vector<ReportRow> listed = first_rows(view.rows, kMostGroupsOfPage);
  out += element("h2", format("By {}", to_string(view.by))) + html_table(table_of(listed));
  out += element("p", left_out(listed.size(), view.rows.size()), "notes");
  if (!view.wasters.empty())
    out +=
        element("h2", "Families with the most idle GPU-hours") + html_table(table_of(view.wasters));
  if (!view.idle_now.empty())
    out += element("h2", "Tasks that hold GPUs now and use none of them") +
           html_table(table_of(view.idle_now));
  out += element("h2", "How to read this") + "<ul class=\"notes\">";
  for (const std::string& note : view.notes)
    out += element("li", note);
  return out + "</ul>\n</main></body></html>\n";
}

std::string report_markdown(const ReportView& view) {
  std::string out = format("# {}\n\n{}\n\n", title_of(view), window_of(view));
  out += markdown_table(table_of(view.totals)) + "\n";
  const std::vector<ReportRow> listed = first_rows(view.rows, kMostGroupsOfPage);
  out += format("## By {}\n\n", to_string(view.by)) + markdown_table(table_of(listed)) + "\n";
  if (listed.size() < view.rows.size()) out += left_out(listed.size(), view.rows.size()) + "\n\n";
  if (!view.wasters.empty())
    out += "## Families with the most idle GPU-hours\n\n" + markdown_table(table_of(view.wasters)) +
           "\n";
  if (!view.idle_now.empty())
    out += "## Tasks that hold GPUs now and use none of them\n\n" +
           markdown_table(table_of(view.idle_now)) + "\n";
  out += "## How to read this\n\n";
  for (const std::string& note : view.notes)
    out += "- " + note + "\n";
  return out;
}

}  // namespace slackline::wire
