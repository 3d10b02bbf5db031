#include "client/terminal_table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

#include "slackline/base/duration.h"
#include "slackline/base/text.h"

namespace slackline::client {
namespace {

constexpr double kDay_s = 86400;
constexpr double kMinute_s = 60;
constexpr std::size_t kGap = 2;        // between columns
constexpr std::size_t kEllipsis = 3;   // what printable() puts behind a cut text
constexpr std::size_t kShortest = 20;  // no cell is cut shorter

std::string_view colour_of(const std::string& cell) {
  if (cell == "LATE" || cell.starts_with("LATE ")) return "1;31";
  if (cell == "BLOCKED" || cell == "CUT SHORT") return "1;33";
  if (cell == "met") return "32";
  return cell == "missed" ? "31" : std::string_view();
}

std::string day(const std::tm& time) {
  return format("{:04}-{:02}-{:02}", time.tm_year + 1900, time.tm_mon + 1, time.tm_mday);
}

std::string distance(double seconds) {
  if (std::abs(seconds) >= kDay_s) return {};
  if (std::abs(seconds) < kMinute_s) return " now";
  const int minutes = static_cast<int>(std::abs(seconds) / kMinute_s);
  const std::string away =
      minutes < 60 ? format("{}m", minutes) : format("{}h{:02}m", minutes / 60, minutes % 60);
  return seconds > 0 ? " in " + away : " " + away + " ago";
}

// One way to show the table; the columns by their places in it.
class View {
 public:
  View(const wire::Cells& cells, const TerminalStyle& style) : cells_(cells), style_(style) {
    for (std::size_t i = 0; i < cells.columns.size(); ++i)
      if (style.wide || !cells.columns[i].wide) shown_.push_back(i);
  }

  std::string str() {
    if (style_.wide || style_.width == 0) return draw();
    if (!fits()) relative_ = false;
    for (std::size_t i = shown_.size(); i-- > 0 && !fits();)
      if (cells_.columns[shown_[i]].column.lesser) leave_out(i);
    if (!fits()) cut();
    while (!fits() && shown_.size() > 2)
      leave_out(shown_.size() - 1);
    std::string out = draw();
    if (!left_out_.empty())
      out += format("not shown: {}; -o wide shows all\n", join(left_out_, ", "));
    return out;
  }

 private:
  std::string cell(const std::string& text) const {
    const auto time_s = parse_rfc3339_s(text);
    return time_s ? local_time(*time_s, style_, relative_) : text;
  }

  wire::TextTable table() const {
    std::vector<wire::TableColumn> columns;
    for (const std::size_t column : shown_)
      columns.push_back(cells_.columns[column].column);
    wire::TextTable table = wire::TextTable::of(std::move(columns));
    for (const std::vector<std::string>& row : cells_.rows) {
      std::vector<std::string> texts;
      for (std::size_t i = 0; i < shown_.size(); ++i) {
        texts.push_back(cell(row[shown_[i]]));
        if (i < longest_.size() && texts.back().size() > longest_[i])
          texts.back() = printable(texts.back(), longest_[i] - kEllipsis);
      }
      table.add(std::move(texts));
    }
    return table;
  }

  bool fits() const { return total(table().widths()) <= style_.width; }

  static std::size_t total(const std::vector<std::size_t>& widths) {
    return std::accumulate(widths.begin(), widths.end(), kGap * (widths.size() - 1));
  }

  void leave_out(std::size_t i) {
    left_out_.insert(left_out_.begin(), cells_.columns[shown_[i]].column.name);
    shown_.erase(shown_.begin() + static_cast<std::ptrdiff_t>(i));
    if (i < longest_.size()) longest_.erase(longest_.begin() + static_cast<std::ptrdiff_t>(i));
  }

  // The widest columns first, a character at a time.
  void cut() {
    longest_ = table().widths();
    while (total(longest_) > style_.width) {
      const auto widest = std::max_element(longest_.begin(), longest_.end());
      if (*widest <= kShortest) return;
      --*widest;
    }
  }

  std::string draw() const {
    return table().str({}, style_.colour ? wire::Paint(colour_of) : wire::Paint());
  }

  const wire::Cells& cells_;
  const TerminalStyle& style_;
  std::vector<std::size_t> shown_;
  std::vector<std::size_t> longest_;  // of the cells of each that is shown; empty: no limit
  std::vector<std::string> left_out_;
  bool relative_ = true;
};

}  // namespace

std::string local_time(double epoch_s, const TerminalStyle& style, bool relative) {
  constexpr std::array<std::string_view, 7> kDays = {"Sun", "Mon", "Tue", "Wed",
                                                     "Thu", "Fri", "Sat"};
  const std::tm time = style.local(epoch_s);
  const std::string hour = format("{:02}:{:02}", time.tm_hour, time.tm_min);
  const double away_s = epoch_s - style.now_s;
  const std::string far = relative ? distance(away_s) : "";
  if (day(time) == day(style.local(style.now_s))) return hour + far;
  if (std::abs(away_s) < 6 * kDay_s)
    return format("{} {}{}", kDays[static_cast<std::size_t>(time.tm_wday) % 7], hour, far);
  return day(time) + " " + hour;
}

std::string terminal_table(const wire::Cells& cells, const TerminalStyle& style) {
  if (cells.rows.empty()) return cells.preface + "nothing to show\n";
  std::string out = cells.preface + View(cells, style).str();
  if (cells.more) out += "... more rows follow; --limit says how many are shown\n";
  return out;
}

}  // namespace slackline::client
