#include "wire/rest/status_codec.h"

#include "wire/format/json_writer.h"

namespace slackline::wire {

std::string encode_status_error(int code, std::string_view reason, std::string_view message) {
  JsonWriter out;
  out.begin_object()
      .field("kind", "Status")
      .field("apiVersion", "v1")
      .field("status", "Failure")
      .field("message", message)
      .field("reason", reason)
      .field("code", code)
      .end_object();
  return out.take();
}

std::string encode_status_success(std::string_view message) {
  JsonWriter out;
  out.begin_object()
      .field("kind", "Status")
      .field("apiVersion", "v1")
      .field("status", "Success")
      .field("message", message)
      .field("code", 200)
      .end_object();
  return out.take();
}

}  // namespace slackline::wire
