#include "client/list.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "slackline/base/text.h"
#include "wire/format/yaml_writer.h"
#include "wire/rest/list_parts.h"

namespace slackline::client {
namespace {

constexpr std::size_t kPart = 1000;  // what the server gives at once
constexpr int kAttempts = 3;

struct Parts {
  std::vector<std::string> bodies;
  bool cut = false;  // by the limit: more rows would follow
};

Result<Parts> get_parts(Client& client, const std::string& path, const std::string& output,
                        std::size_t limit) {
  Parts parts;
  std::string from;
  const char separator = path.find('?') == std::string::npos ? '?' : '&';
  for (std::size_t had = 0;;) {
    const std::size_t wanted = limit == 0 ? kPart : std::min(kPart, limit - had);
    const std::string target = format("{}{}output={}&limit={}{}", path, separator, output, wanted,
                                      from.empty() ? "" : "&continue=" + encode_query(from));
    SLACKLINE_ASSIGN(Page page, client.get_page(target, "*/*"));
    parts.bodies.push_back(std::move(page.body));
    if (page.next.empty()) return parts;
    if (page.next == from)
      return fail(ErrorCode::kInternal, "the server answered the same part of the list twice");
    had += wanted;
    from = std::move(page.next);
    if (limit != 0 && had >= limit) {
      parts.cut = true;
      return parts;
    }
  }
}

std::string_view without_first_line(std::string_view text) {
  return text.substr(std::min(text.find('\n'), text.size() - 1) + 1);
}

std::string_view without_last_line(std::string_view text) {
  if (text.ends_with('\n')) text.remove_suffix(1);
  return text.substr(0, text.rfind('\n') + 1);
}

std::string join_csv(const Parts& parts) {
  std::string all = parts.bodies.front();
  for (std::size_t i = 1; i < parts.bodies.size(); ++i)
    all += without_first_line(parts.bodies[i]);
  return all;
}

// A part that is not the last ends with "... 7 more; continue=...".
std::string join_tables(const Parts& parts) {
  std::string all;
  for (std::size_t i = 0; i < parts.bodies.size(); ++i) {
    std::string_view part = parts.bodies[i];
    if (i > 0) part = without_first_line(part);
    if (i + 1 < parts.bodies.size()) part = without_last_line(part);
    all += part;
  }
  const std::size_t hint = parts.cut ? all.rfind("; continue=") : std::string::npos;
  if (hint != std::string::npos) all.replace(hint, std::string::npos, "\n");
  return all;
}

}  // namespace

Result<std::string> get_list(Client& client, const std::string& path, const ListOptions& options) {
  const bool tree =
      options.output == "json" || options.output == "yaml" || options.output == "cells";
  const std::string asked = options.output == "yaml" ? "json" : options.output;
  auto parts = get_parts(client, path, asked, options.limit);
  for (int attempt = 1; !parts && parts.error().code == ErrorCode::kGone && attempt < kAttempts;
       ++attempt)
    parts = get_parts(client, path, asked, options.limit);
  if (!parts) return fail(parts.error());
  if (options.output == "csv") return join_csv(*parts);
  if (!tree) return join_tables(*parts);
  SLACKLINE_ASSIGN(std::string all, wire::join_list_parts(std::move(parts->bodies)));
  return options.output == "yaml" ? wire::json_to_yaml(all) : std::move(all);
}

}  // namespace slackline::client
