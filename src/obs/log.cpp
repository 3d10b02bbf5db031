#include "obs/log.h"

#include <map>
#include <memory>
#include <string>

#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>

#include "obs/log_limit.h"
#include "slackline/base/clock.h"
#include "slackline/base/mutex.h"
#include "slackline/base/text.h"

namespace slackline::obs {
namespace {

class EventLimits {
 public:
  void begin_anew(double period_s) {
    MutexLock lock(mutex_);
    period_s_ = period_s;
    limits_.clear();
  }

  // As LogLimit::admit().
  std::optional<std::int64_t> admit(std::string_view event) {
    MutexLock lock(mutex_);
    auto at = limits_.find(event);
    if (at == limits_.end()) at = limits_.try_emplace(std::string(event), kLines, period_s_).first;
    return at->second.admit(system_clock().steady_s());
  }

 private:
  static constexpr int kLines = 10;

  Mutex mutex_;
  double period_s_ SLACKLINE_GUARDED_BY(mutex_) = kLogPeriod_s;
  std::map<std::string, LogLimit, std::less<>> limits_ SLACKLINE_GUARDED_BY(mutex_);
};

EventLimits& limits() {
  static EventLimits instance;
  return instance;
}

struct Sink {
  std::unique_ptr<spdlog::logger> logger;
  bool json = false;
};

spdlog::level::level_enum to_spdlog(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return spdlog::level::debug;
    case LogLevel::kInfo:
      return spdlog::level::info;
    case LogLevel::kWarning:
      return spdlog::level::warn;
    case LogLevel::kError:
      return spdlog::level::err;
  }
  return spdlog::level::err;
}

Sink make_sink(LogLevel level, bool json) {
  auto logger = std::make_unique<spdlog::logger>("slackline",
                                                 std::make_shared<spdlog::sinks::stderr_sink_mt>());
  const std::string_view pattern = json ? R"({"ts":"%Y-%m-%dT%H:%M:%S.%eZ","level":"%l",%v})"
                                        : "ts=%Y-%m-%dT%H:%M:%S.%eZ level=%l %v";
  logger->set_formatter(std::make_unique<spdlog::pattern_formatter>(
      std::string(pattern), spdlog::pattern_time_type::utc));
  logger->set_level(to_spdlog(level));
  return Sink{std::move(logger), json};
}

Sink& sink() {
  static Sink instance = make_sink(LogLevel::kInfo, false);
  return instance;
}

// Between double quotes, valid both as a JSON string and for a logfmt reader. `text` is printable.
void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  out += '"';
}

bool is_plain_word(std::string_view text) {
  if (text.empty()) return false;
  for (const char c : text)
    if (c <= ' ' || c == '"' || c == '=' || c == '\\' || static_cast<unsigned char>(c) >= 0x7f)
      return false;
  return true;
}

void append_value(std::string& out, const Field& field, bool json) {
  if (const auto* text = std::get_if<std::string_view>(&field.value)) {
    const std::string safe = printable(*text);
    if (!json && is_plain_word(safe))
      out += safe;
    else
      append_quoted(out, safe);
  } else if (const auto* integer = std::get_if<std::int64_t>(&field.value)) {
    out += slackline::format("{}", *integer);
  } else if (const auto* number = std::get_if<double>(&field.value)) {
    const std::string digits = slackline::format("{:.6g}", *number);
    const bool finite = digits.find_first_of("in") == std::string::npos;
    if (json && !finite)
      append_quoted(out, digits);  // JSON has neither inf nor nan
    else
      out += digits;
  } else {
    out += std::get<bool>(field.value) ? "true" : "false";
  }
}

void append_field(std::string& out, const Field& field, bool json) {
  if (!out.empty()) out += json ? ',' : ' ';
  if (json) {
    append_quoted(out, field.key);
    out += ':';
  } else {
    out += field.key;
    out += '=';
  }
  append_value(out, field, json);
}

}  // namespace

void configure_log(LogLevel level, bool json, double period_s) {
  sink() = make_sink(level, json);
  limits().begin_anew(period_s);
}

void set_log_level(LogLevel level) {
  sink().logger->set_level(to_spdlog(level));
}

void log(LogLevel level, std::string_view event, std::initializer_list<Field> fields,
         std::int64_t left_out) {
  Sink& target = sink();
  if (!target.logger->should_log(to_spdlog(level))) return;
  if (level >= LogLevel::kWarning) {
    const auto admitted = limits().admit(event);
    if (!admitted) return;
    left_out += *admitted;
  }
  std::string line;
  append_field(line, Field{"event", event}, target.json);
  for (const Field& field : fields)
    append_field(line, field, target.json);
  if (left_out > 0) append_field(line, Field{"left_out", left_out}, target.json);
  target.logger->log(to_spdlog(level), line);
  target.logger->flush();
}

}  // namespace slackline::obs
