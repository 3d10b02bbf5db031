// Structured logs: one line per event, key=value, foreign text escaped and cut (F41).
//
// At most ten warnings and errors of one event are written in ten seconds, because a client may
// cause one with every request; the next line says how many were left out. Where each one must be
// counted there is a metric, too.
//
// Thread-safe. Never logs request bodies or tokens. Configure once at start, before the threads.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <variant>

namespace slackline::obs {

enum class LogLevel { kDebug, kInfo, kWarning, kError };

struct Field {
  std::string_view key;
  std::variant<std::string_view, std::int64_t, double, bool> value;
};

inline constexpr double kLogPeriod_s = 10;

// Lines go to stderr. json: one JSON object per line instead of key=value.
void configure_log(LogLevel level, bool json, double period_s = kLogPeriod_s);
// At any time.
void set_log_level(LogLevel level);

// `event` is one of few. `left_out`: lines before this one that the caller left out; written if
// any.
void log(LogLevel level, std::string_view event, std::initializer_list<Field> fields = {},
         std::int64_t left_out = 0);

inline void log_info(std::string_view event, std::initializer_list<Field> fields = {}) {
  log(LogLevel::kInfo, event, fields);
}
inline void log_warning(std::string_view event, std::initializer_list<Field> fields = {}) {
  log(LogLevel::kWarning, event, fields);
}
inline void log_error(std::string_view event, std::initializer_list<Field> fields = {}) {
  log(LogLevel::kError, event, fields);
}

}  // namespace slackline::obs
