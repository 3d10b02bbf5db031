#include "http/server/router.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <optional>

#include "obs/log.h"
#include "slackline/base/text.h"

namespace slackline::http {
namespace {

constexpr std::size_t kMaxPath = 1024;
constexpr std::size_t kMaxQuery = 4096;
constexpr std::size_t kMaxParameters = 32;

std::optional<unsigned> hex_digit(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a' + 10);
  if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A' + 10);
  return std::nullopt;
}

// Nothing for a broken escape and for control characters, which no valid name or value contains.
std::optional<std::string> percent_decode(std::string_view text, bool plus_is_space) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '+' && plus_is_space) c = ' ';
    if (c == '%') {
      if (i + 2 >= text.size()) return std::nullopt;
      const auto high = hex_digit(text[i + 1]);
      const auto low = hex_digit(text[i + 2]);
      if (!high || !low) return std::nullopt;
      c = static_cast<char>(*high * 16 + *low);
      i += 2;
    }
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return std::nullopt;
    out += c;
  }
  return out;
}

// "/a/b" is {"a", "b"}, "/" is {""}.
std::vector<std::string_view> path_segments(std::string_view path) {
  std::vector<std::string_view> segments;
  path.remove_prefix(1);
  for (;;) {
    const std::size_t slash = path.find('/');
    segments.push_back(path.substr(0, slash));
    if (slash == std::string_view::npos) return segments;
    path.remove_prefix(slash + 1);
  }
}

// Nothing where the path tries to climb (F42), however it is encoded.
std::optional<std::vector<std::string>> decode_path(std::string_view path) {
  std::vector<std::string> decoded;
  for (const std::string_view segment : path_segments(path)) {
    auto text = percent_decode(segment, false);
    if (!text || *text == "." || *text == ".." || text->find_first_of("/\\") != std::string::npos)
      return std::nullopt;
    decoded.push_back(std::move(*text));
  }
  return decoded;
}

// The message of a 400, or empty when `out` is complete.
std::string_view parse_query(std::string_view query, Parameters& out) {
  if (query.size() > kMaxQuery) return "the query is longer than 4096 bytes";
  while (!query.empty()) {
    const std::size_t end = query.find('&');
    const std::string_view pair = query.substr(0, end);
    query.remove_prefix(end == std::string_view::npos ? query.size() : end + 1);
    if (pair.empty()) continue;
    const std::size_t equals = pair.find('=');
    auto key = percent_decode(pair.substr(0, equals), true);
    auto value =
        percent_decode(equals == std::string_view::npos ? "" : pair.substr(equals + 1), true);
    if (!key || !value) return "the query has a broken %-escape or a control character";
    if (!out.emplace(std::move(*key), std::move(*value)).second)
      return "the query gives one parameter twice";
    if (out.size() > kMaxParameters) return "the query has more than 32 parameters";
  }
  return {};
}

bool is_name(std::string_view segment) {
  return segment.starts_with('{');
}

// How many {names} the match needed; nothing if the path is another one.
std::optional<std::size_t> match(const std::vector<std::string>& pattern,
                                 const std::vector<std::string>& path) {
  if (pattern.size() != path.size()) return std::nullopt;
  std::size_t names = 0;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (is_name(pattern[i]) && !path[i].empty())
      ++names;
    else if (pattern[i] != path[i])
      return std::nullopt;
  }
  return names;
}

// The path as the pattern cuts it, where its first {name} may have slashes.
std::vector<std::string> cut_by(const std::vector<std::string>& pattern,
                                std::vector<std::string> path) {
  const auto first = std::find_if(pattern.begin(), pattern.end(), is_name) - pattern.begin();
  const auto begin = path.begin() + first;  // a pattern that is shorter than the path
  const auto end = begin + static_cast<std::ptrdiff_t>(path.size() - pattern.size()) + 1;
  if (std::find(begin, end, "") != end) return path;
  *begin = join(std::vector<std::string>(begin, end), "/");
  path.erase(begin + 1, end);
  return path;
}

// Empty: the route knows them all.
std::string unknown_parameter(const Route& route, const Parameters& query) {
  if (!route.parameters) return {};
  std::vector<std::string> known;
  for (const Parameter& parameter : *route.parameters)
    known.push_back(parameter.name);
  for (const auto& [name, value] : query)
    if (std::find(known.begin(), known.end(), name) == known.end())
      return format("unknown parameter \"{}\"; {} takes {}", printable(name, 64), route.pattern,
                    known.empty() ? "none" : join(known, ", "));
  return {};
}

Response plain_error(int status, std::string_view message) {
  return Response{status, "text/plain; charset=utf-8", std::string(message) + "\n", {}};
}

}  // namespace

Router::Router() : error_page_(plain_error) {}

void Router::add(Route route) {
  for (const Entry& entry : entries_) {
    if (entry.route.method == route.method && entry.route.pattern == route.pattern) {
      std::fprintf(stderr, "two routes for %s %s\n", route.method.c_str(), route.pattern.c_str());
      std::abort();
    }
  }
  std::vector<std::string> segments;
  for (const std::string_view segment : path_segments(route.pattern))
    segments.emplace_back(segment);
  entries_.push_back(Entry{std::move(route), std::move(segments)});
}

std::vector<const Route*> Router::routes() const {
  std::vector<const Route*> routes;
  for (const Entry& entry : entries_)
    routes.push_back(&entry.route);
  return routes;
}

void Router::drop_writes() {
  std::erase_if(entries_, [](const Entry& entry) { return entry.route.method != "GET"; });
}

// Of names with slashes, those routes that take the fewest segments for them.
std::vector<Router::Match> Router::matches(const std::vector<std::string>& path) const {
  std::vector<Match> found;
  for (const Entry& entry : entries_)
    if (const auto names = match(entry.segments, path)) found.push_back({&entry, *names});
  if (!found.empty()) return found;
  std::size_t least = path.size();
  for (const Entry& entry : entries_) {
    if (!entry.route.takes_slashes || entry.segments.size() >= path.size()) continue;
    const auto names = match(entry.segments, cut_by(entry.segments, path));
    if (!names) continue;
    found.push_back({&entry, *names + path.size() - entry.segments.size()});
    least = std::min(least, found.back().taken);
  }
  std::erase_if(found, [least](const Match& each) { return each.taken > least; });
  return found;
}

Router::Resolution Router::resolve(std::string_view method, std::string_view target) const {
  Resolution found;
  const auto refuse = [&](int status, std::string_view message) {
    found.refusal = error(status, message);
    return std::move(found);
  };
  const std::size_t question = target.find('?');
  found.path = target.substr(0, question);
  if (!found.path.starts_with('/') || target.find('#') != std::string_view::npos)
    return refuse(400, "the request target must be an absolute path");
  if (found.path.size() > kMaxPath) return refuse(400, "the path is longer than 1024 bytes");
  auto path = decode_path(found.path);
  if (!path) return refuse(400, "the path has a dot segment, a broken %-escape or a control byte");
  if (question != std::string_view::npos) {
    const std::string_view problem = parse_query(target.substr(question + 1), found.query);
    if (!problem.empty()) return refuse(400, problem);
  }

  const std::string_view wanted = method == "HEAD" ? "GET" : method;
  const Entry* best = nullptr;
  std::size_t best_names = 0;
  std::vector<std::string> allowed;
  for (const auto& [entry, names] : matches(*path)) {
    allowed.push_back(entry->route.method);
    if (entry->route.method != wanted || (best != nullptr && names >= best_names)) continue;
    best = entry;
    best_names = names;
  }
  if (allowed.empty())
    return refuse(404, about_.empty() ? "no such path" : "no such path: " + about_);
  if (best == nullptr) {
    std::sort(allowed.begin(), allowed.end());
    allowed.erase(std::unique(allowed.begin(), allowed.end()), allowed.end());
    Resolution refused = refuse(405, "this path does not answer that method");
    refused.refusal.headers.emplace_back("Allow", join(allowed, ", "));
    return refused;
  }
  if (path->size() > best->segments.size()) *path = cut_by(best->segments, *path);
  for (std::size_t i = 0; i < path->size(); ++i) {
    const std::string& segment = best->segments[i];
    if (is_name(segment)) found.params[segment.substr(1, segment.size() - 2)] = (*path)[i];
  }
  if (const std::string problem = unknown_parameter(best->route, found.query); !problem.empty())
    return refuse(400, problem);
  found.route = &best->route;
  return found;
}

template <class F>
std::invoke_result_t<F> Router::without_exceptions(const Route& route, const F& call) const {
  Response failed = error(500, "internal error; the log of the server says more");
  try {
    return call();
  } catch (const std::bad_alloc&) {
    obs::log_error("handler_failed", {{"route", route.pattern}, {"error", "out of memory"}});
    failed = error(503, "the daemon is out of memory; try again later");
  } catch (const std::exception& exception) {
    obs::log_error("handler_failed", {{"route", route.pattern}, {"error", exception.what()}});
  } catch (...) {
    obs::log_error("handler_failed", {{"route", route.pattern}, {"error", "unknown"}});
  }
  if constexpr (std::is_same_v<std::invoke_result_t<F>, Response>)
    return failed;
  else
    return GuardAnswer{std::move(failed)};
}

std::optional<GuardAnswer> Router::recall(const Route& route, const Request& request) const {
  if (!guard_) return GuardAnswer();
  return without_exceptions(
      route, [&]() -> std::optional<GuardAnswer> { return guard_->recall(route, request); });
}

GuardAnswer Router::ask(const Route& route, const Request& request) const {
  return without_exceptions(route, [&] { return guard_->ask(route, request); });
}

Response Router::run(const Route& route, const Request& request) const {
  return without_exceptions(route, [&] { return route.handler(request); });
}

Response Router::dispatch(Request request, std::string_view target) const {
  Resolution found = resolve(request.method, target);
  if (found.route == nullptr) return std::move(found.refusal);
  request.path = found.path;
  request.target = target;
  request.params = std::move(found.params);
  request.query = std::move(found.query);
  auto answer = recall(*found.route, request);
  if (!answer) answer = ask(*found.route, request);
  if (answer->refusal) return *std::move(answer->refusal);
  return run(*found.route, request);
}

std::string_view reason_phrase(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 201:
      return "Created";
    case 202:
      return "Accepted";
    case 204:
      return "No Content";
    case 304:
      return "Not Modified";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 406:
      return "Not Acceptable";
    case 408:
      return "Request Timeout";
    case 409:
      return "Conflict";
    case 410:
      return "Gone";
    case 411:
      return "Length Required";
    case 413:
      return "Content Too Large";
    case 415:
      return "Unsupported Media Type";
    case 417:
      return "Expectation Failed";
    case 421:
      return "Misdirected Request";
    case 422:
      return "Unprocessable Content";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 503:
      return "Service Unavailable";
    case 504:
      return "Gateway Timeout";
    case 505:
      return "HTTP Version Not Supported";
    default:
      return "Unknown";
  }
}

}  // namespace slackline::http
