#include "http/server/request_head.h"

#include <algorithm>

// Asio's and Beast's function bodies are compiled once, in boost_impl.cpp.
#include <boost/asio/buffer.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/basic_parser.hpp>

#include "slackline/base/text.h"

namespace slackline::http {
namespace {

namespace beast = boost::beast;
using beast::error_code;

std::string_view std_view(beast::string_view text) {
  return {text.data(), text.size()};
}

beast::string_view beast_view(std::string_view text) {
  return {text.data(), text.size()};
}

// Bytes before the request line that mean nothing.
std::size_t empty_line(std::string_view bytes) {
  return bytes.starts_with("\r\n") ? 2 : 0;
}

bool is_digits(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// Keeps the few fields in use and the first reason to refuse.
class HeadParser final : public beast::http::basic_parser<true> {
 public:
  HeadParser(std::size_t max_fields, RequestHead& out) : max_fields_(max_fields), out_(out) {
    skip(true);  // Content-Length bodies are read by the connection, others are refused
    eager(false);
    body_limit(boost::none);
  }

  Refusal refusal() const {
    if (refusal_.status != 0) return refusal_;
    if (hosts_ > 1 || (hosts_ == 0 && http_1_1_)) return {400, "exactly one Host field is needed"};
    if (lengths_ > 1) return {400, "more than one Content-Length"};
    const bool carries_body =
        out_.method == "POST" || out_.method == "PUT" || out_.method == "PATCH";
    if (carries_body && lengths_ == 0) return {411, "send the body with a Content-Length"};
    return {};
  }

  bool is_http_1_1() const { return http_1_1_; }

 private:
  // The host of an absolute target counts, whatever the Host field says (RFC 9112, 3.2.2).
  void take_target(std::string_view target) {
    for (const std::string_view scheme : {"http://", "https://"}) {
      if (!beast::iequals(beast_view(target.substr(0, scheme.size())), beast_view(scheme)))
        continue;
      target.remove_prefix(scheme.size());
      const std::size_t end = std::min(target.find_first_of("/?#"), target.size());
      out_.host = target.substr(0, end);
      if (out_.host.empty() || out_.host.find('@') != std::string::npos)
        refuse(400, "the request target names no host, or a user");
      target.remove_prefix(end);
      out_.target = target.starts_with('/') ? target : "/" + std::string(target);
      return;
    }
    out_.target = target;
  }

  void refuse(int status, std::string_view message) {
    if (refusal_.status == 0) refusal_ = {status, message};
  }

  void on_request_impl(beast::http::verb, beast::string_view method, beast::string_view target,
                       int version, error_code&) override {
    out_.method = std_view(method);
    take_target(std_view(target));
    http_1_1_ = version == 11;
  }

  void on_field_impl(beast::http::field name, beast::string_view, beast::string_view text,
                     error_code&) override {
    using beast::http::field;
    const std::string_view value = std_view(text);
    if (++fields_ > max_fields_) refuse(431, "too many header fields");
    switch (name) {
      case field::host:
        ++hosts_;
        if (out_.host.empty()) out_.host = value;
        break;
      case field::origin:
        out_.origin = value;
        break;
      case field::accept:
        out_.accept = value;
        break;
      case field::content_type:
        out_.content_type = value;
        break;
      case field::authorization:
        out_.authorization = value;
        break;
      case field::content_length:
        ++lengths_;
        if (!is_digits(value)) refuse(400, "Content-Length is not a number");
        break;
      case field::transfer_encoding:
        refuse(411, "chunked bodies are not accepted; send a Content-Length");
        break;
      case field::content_encoding:
        if (!beast::iequals(text, "identity"))
          refuse(415, "compressed bodies are not accepted; send it uncompressed");
        break;
      case field::expect:
        if (beast::iequals(text, "100-continue"))
          out_.expects_continue = true;
        else
          refuse(417, "only 100-continue can be expected");
        break;
      default:
        break;
    }
  }

  void on_header_impl(error_code&) override {}
  void on_response_impl(int, beast::string_view, int, error_code&) override {}
  void on_body_init_impl(const boost::optional<std::uint64_t>&, error_code&) override {}
  std::size_t on_body_impl(beast::string_view body, error_code&) override { return body.size(); }
  void on_chunk_header_impl(std::uint64_t, beast::string_view, error_code&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, beast::string_view body, error_code&) override {
    return body.size();
  }
  void on_finish_impl(error_code&) override {}

  std::size_t max_fields_;
  RequestHead& out_;
  Refusal refusal_;
  std::size_t fields_ = 0;
  std::size_t hosts_ = 0;
  std::size_t lengths_ = 0;
  bool http_1_1_ = false;
};

}  // namespace

std::size_t find_head_end(std::string_view bytes, std::size_t scanned) {
  const std::size_t from = std::max(empty_line(bytes), scanned < 3 ? 0 : scanned - 3);
  const std::size_t end = bytes.find("\r\n\r\n", from);
  return end == std::string_view::npos ? end : end + 4;
}

Refusal check_start(std::string_view bytes) {
  static constexpr Refusal kNotHttp{400, "this is not an HTTP/1.1 request"};
  bytes.remove_prefix(empty_line(bytes));
  if (bytes.empty() || bytes == "\r") return {};
  if (bytes.front() < 'A' || bytes.front() > 'Z') return kNotHttp;
  const std::size_t newline = bytes.find('\n');
  if (newline == std::string_view::npos) return {};
  std::string_view line = bytes.substr(0, newline);
  if (!line.ends_with('\r')) return kNotHttp;
  line.remove_suffix(1);
  if (line.ends_with(" HTTP/1.1") || line.ends_with(" HTTP/1.0")) return {};
  if (line.find(" HTTP/") == std::string_view::npos) return kNotHttp;
  return {505, "only HTTP/1.1 and HTTP/1.0 are supported"};
}

Refusal parse_head(std::string_view head, std::size_t max_fields, RequestHead& out) {
  out = RequestHead();
  head.remove_prefix(empty_line(head));
  // A folded field means one thing here and another to a proxy.
  if (head.find("\r\n ") != std::string_view::npos || head.find("\r\n\t") != std::string_view::npos)
    return {400, "folded header fields are obsolete"};
  HeadParser parser(max_fields, out);
  parser.header_limit(static_cast<std::uint32_t>(head.size() + 1));
  error_code error;
  parser.put(boost::asio::buffer(head.data(), head.size()), error);
  if (const Refusal refusal = parser.refusal(); refusal.status != 0 && !error) return refusal;
  if (error || !parser.is_header_done()) return {400, "the request head is malformed"};
  if (const auto length = parser.content_length()) out.content_length = *length;
  // HTTP/1.0 keeps alive only on a header of its own: simply closing is always right.
  out.keep_alive = parser.keep_alive() && parser.is_http_1_1();
  return {};
}

std::vector<std::string> field_values(std::string_view head, std::string_view name) {
  std::vector<std::string> values;
  head.remove_prefix(std::min(head.size(), empty_line(head)));
  for (std::size_t end = head.find("\r\n"); end != std::string_view::npos;
       end = head.find("\r\n")) {
    const std::string_view line = head.substr(0, end);
    head.remove_prefix(end + 2);
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos ||
        !beast::iequals(beast_view(line.substr(0, colon)), beast_view(name)))
      continue;
    values.emplace_back(trim(line.substr(colon + 1)));
  }
  return values;
}

}  // namespace slackline::http
