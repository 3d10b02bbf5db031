#include "config/profile_files.h"

#include <iterator>
#include <memory>
#include <string_view>
#include <utility>

#include <glob.h>

#include "config/load.h"
#include "slackline/base/text.h"
#include "wire/samples/profile_codec.h"

namespace slackline {

// manifests/profiles/*.json, compiled in (cmake/Embed.cmake).
extern const std::vector<std::pair<std::string_view, std::string_view>> kShippedProfiles;

namespace config {
namespace {

Result<std::vector<std::string>> expand(const std::string& pattern) {
  glob_t found{};
  const int status = ::glob(pattern.c_str(), 0, nullptr, &found);
  std::vector<std::string> files;
  for (std::size_t i = 0; status == 0 && i < found.gl_pathc; ++i)
    files.emplace_back(found.gl_pathv[i]);
  ::globfree(&found);
  if (files.empty())
    return fail(ErrorCode::kInvalidArgument, format("profiles: no file matches {}", pattern));
  return files;
}

}  // namespace

Result<WorkloadProfiles> load_profiles(const std::vector<std::string>& patterns,
                                       CheckEntries check) {
  std::vector<ProfileEntry> entries;
  const auto add = [&entries, check](std::string_view text, const std::string& file) -> Status {
    SLACKLINE_ASSIGN(auto read, wire::read_profile(text, file));
    if (check != nullptr) SLACKLINE_TRY(check(read, file));
    std::move(read.begin(), read.end(), std::back_inserter(entries));
    return {};
  };
  for (const auto& [name, text] : kShippedProfiles)
    SLACKLINE_TRY(add(text, std::string(name)));
  for (const std::string& pattern : patterns) {
    SLACKLINE_ASSIGN(const auto files, expand(pattern));
    for (const std::string& file : files) {
      SLACKLINE_ASSIGN(const std::string text, read_text_file(file));
      SLACKLINE_TRY(add(text, file));
    }
  }
  return WorkloadProfiles(std::move(entries));
}

}  // namespace config
}  // namespace slackline
