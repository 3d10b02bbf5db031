// Members of JSON objects, and what stands for those that are absent or of another kind.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace slackline::wire {

inline nlohmann::json member(const nlohmann::json& object, const char* key) {
  if (object.is_object() && object.contains(key) && object[key].is_object()) return object[key];
  return nlohmann::json::object();
}

inline nlohmann::json list_member(const nlohmann::json& object, const char* key) {
  if (object.is_object() && object.contains(key) && object[key].is_array()) return object[key];
  return nlohmann::json::array();
}

inline std::string text_member(const nlohmann::json& object, const char* key,
                               const std::string& otherwise = {}) {
  if (object.is_object() && object.contains(key) && object[key].is_string())
    return object[key].get<std::string>();
  return otherwise;
}

inline bool true_member(const nlohmann::json& object, const char* key) {
  return object.is_object() && object.contains(key) && object[key].is_boolean() &&
         object[key].get<bool>();
}

}  // namespace slackline::wire
