#include "obs/log.h"

#include <memory>

#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>

#include "slackline/base/text.h"

namespace slackline::obs {
namespace {

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

// The length of the UTF-8 sequence that starts here, or 0 where the bytes are not one. C1 controls
// count as invalid too: terminals act on them.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  std::size_t length = 0;
  if (lead >= 0xc2 && lead <= 0xdf) length = 2;
  if (lead >= 0xe0 && lead <= 0xef) length = 3;
  if (lead >= 0xf0 && lead <= 0xf4) length = 4;
  if (length == 0 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  if (lead == 0xc2 && byte(1) < 0xa0) return 0;
  if (lead == 0xe0 && byte(1) < 0xa0) return 0;
  if (lead == 0xed && byte(1) > 0x9f) return 0;
  if (lead == 0xf0 && byte(1) < 0x90) return 0;
  if (lead == 0xf4 && byte(1) > 0x8f) return 0;
  return length;
}

// Between double quotes, valid both as a JSON string and for a logfmt reader.
void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
      ++i;
    } else if (static_cast<unsigned char>(c) < 0x80) {
      out += c;
      ++i;
    } else if (const std::size_t length = utf8_length(text.substr(i)); length > 0) {
      out += text.substr(i, length);
      i += length;
    } else {
      out += slackline::format("\\\\x{:02x}", static_cast<unsigned char>(c));
      ++i;
    }
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

void configure_log(LogLevel level, bool json) {
  sink() = make_sink(level, json);
}

void set_log_level(LogLevel level) {
  sink().logger->set_level(to_spdlog(level));
}

void log(LogLevel level, std::string_view event, std::initializer_list<Field> fields) {
  Sink& target = sink();
  if (!target.logger->should_log(to_spdlog(level))) return;
  std::string line;
  append_field(line, Field{"event", event}, target.json);
  for (const Field& field : fields)
    append_field(line, field, target.json);
  target.logger->log(to_spdlog(level), line);
  target.logger->flush();
}

}  // namespace slackline::obs
