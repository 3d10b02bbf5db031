#include "wire/format/json_copy.h"

namespace slackline::wire {
namespace {

bool remains(JsonView value, const LeftOut& left_out, int depth) {
  if (!value.is_object()) return true;
  if (depth > kMaxCopyDepth) return false;
  for (const auto& [key, member] : value.fields())
    if (!left_out(key) && remains(member, left_out, depth + 1)) return true;
  return false;
}

// An empty `left_out` leaves out nothing.
bool copy(JsonView value, const LeftOut& left_out, int depth, JsonWriter& out) {
  if (depth > kMaxCopyDepth) return false;
  const auto is_kept = [&](JsonView part) {
    return !left_out || remains(part, left_out, depth + 1);
  };
  bool whole = true;
  if (value.is_object()) {
    out.begin_object();
    for (const auto& [key, member] : value.fields())
      if (is_kept(member) && !(left_out && left_out(key)))
        whole = copy(member, left_out, depth + 1, out.key(key)) && whole;
    out.end_object();
  } else if (value.is_array()) {
    out.begin_array();
    for (const JsonView item : value.items())
      if (is_kept(item)) whole = copy(item, left_out, depth + 1, out) && whole;
    out.end_array();
  } else if (value.is_string()) {
    out.string(value.text());
  } else if (const auto integer = value.integer()) {
    out.integer(*integer);
  } else if (const auto number = value.number()) {
    out.number(*number);
  } else if (value.present()) {
    out.boolean(value.is_true());
  } else {
    out.null();
  }
  return whole;
}

}  // namespace

bool copy_json(JsonView value, JsonWriter& out) {
  return copy(value, {}, 0, out);
}

std::string json_without(JsonView value, const LeftOut& left_out) {
  JsonWriter out;
  const bool left = value.present() && (!left_out || remains(value, left_out, 0));
  return left && copy(value, left_out, 0, out) ? out.take() : std::string();
}

}  // namespace slackline::wire
