// Structured logs: one line per event, key=value, foreign text escaped and cut (F41).
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

// Lines go to stderr. json: one JSON object per line instead of key=value.
void configure_log(LogLevel level, bool json);
// At any time.
void set_log_level(LogLevel level);

void log(LogLevel level, std::string_view event, std::initializer_list<Field> fields = {});

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
