#include <nlohmann/json.hpp>

#include "wire/format/json_view.h"

namespace slackline::wire {
namespace {

constexpr std::size_t kMaxLooked = std::size_t{4} << 20;

// Accepts everything and remembers where the parser gave up.
class OffsetFinder : public nlohmann::json_sax<nlohmann::json> {
 public:
  std::size_t offset = 0;

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override { return true; }
  bool key(string_t&) override { return true; }
  bool end_object() override { return true; }
  bool start_array(std::size_t) override { return true; }
  bool end_array() override { return true; }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception&) override {
    offset = position;
    return false;
  }
};

}  // namespace

std::optional<std::size_t> json_error_offset(std::string_view json) {
  const std::string_view looked = json.substr(0, kMaxLooked);
  OffsetFinder finder;
  try {
    if (nlohmann::json::sax_parse(looked.begin(), looked.end(), &finder)) return std::nullopt;
  } catch (const std::exception&) {
    return std::nullopt;
  }
  // The position counts the byte read last, from one; it means nothing at this function's own
  // limit.
  if (finder.offset > looked.size() && looked.size() < json.size()) return std::nullopt;
  return finder.offset == 0 ? 0 : finder.offset - 1;
}

}  // namespace slackline::wire
