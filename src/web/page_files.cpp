#include "web/page_files.h"

#include <algorithm>
#include <utility>

namespace slackline {

// src/web/assets, compiled in.
extern const std::vector<std::pair<std::string_view, std::string_view>> kPageFiles;

namespace web {
namespace {

std::string_view content_type_of(std::string_view name) {
  if (name.ends_with(".html")) return "text/html; charset=utf-8";
  if (name.ends_with(".css")) return "text/css; charset=utf-8";
  if (name.ends_with(".svg")) return "image/svg+xml";
  return "text/javascript; charset=utf-8";
}

std::vector<PageFile> all_files() {
  std::vector<PageFile> files;
  for (const auto& [name, content] : kPageFiles)
    files.push_back({name, content_type_of(name), content});
  return files;
}

}  // namespace

const std::vector<PageFile>& page_files() {
  static const std::vector<PageFile> kFiles = all_files();
  return kFiles;
}

const PageFile* find_page_file(std::string_view name) {
  const std::vector<PageFile>& files = page_files();
  const auto found = std::find_if(files.begin(), files.end(),
                                  [&](const PageFile& file) { return file.name == name; });
  return found == files.end() ? nullptr : &*found;
}

}  // namespace web
}  // namespace slackline
