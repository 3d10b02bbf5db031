// Request line and fields of one HTTP/1.1 request, checked. No I/O: a fuzz target.
//
// Boost.Beast's parser decides what is well formed (RFC 9112); in addition, the parts of smuggling
// and floods are refused: two hosts or none, folded fields, a Content-Length that is not plain
// digits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace slackline::http {

struct RequestHead {
  std::string method;
  std::string
      target;  // as sent; of an absolute one ("http://host/path?query") the part after the host
  std::string host;    // of an absolute target, else of the Host field; may be empty in HTTP/1.0
  std::string origin;  // the site whose page sends it; empty: no browser, or the page's own site
  std::string accept;
  std::string content_type;
  std::string authorization;
  std::uint64_t content_length = 0;
  bool keep_alive = true;
  bool expects_continue = false;
};

// status 0: nothing to refuse.
struct Refusal {
  int status = 0;
  std::string_view message;
};

// An empty line before the request line is part of the head and means nothing (RFC 9112, 2.2).
//
// Where the head ends (after the empty line), or npos. `scanned` bytes were looked at before.
std::size_t find_head_end(std::string_view bytes, std::size_t scanned);

// Errors that are known before the head is complete: not HTTP, or an unsupported version.
Refusal check_start(std::string_view bytes);

// head: all of it, with the empty line.
Refusal parse_head(std::string_view head, std::size_t max_fields, RequestHead& out);

// The values of a field of a head that was parsed, in their order, whatever case it is written in.
std::vector<std::string> field_values(std::string_view head, std::string_view name);

}  // namespace slackline::http
