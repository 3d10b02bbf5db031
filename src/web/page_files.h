// The files of the page (src/web/assets), as they are compiled in: HTML, style, ES modules.
//
// They are the same for everybody and hold no data; what the page shows it asks REST for, with the
// reader's own token. There is no build step: what lies in the folder is what the browser gets.
#pragma once

#include <string_view>
#include <vector>

namespace slackline::web {

struct PageFile {
  std::string_view name;  // "queue.js"
  std::string_view content_type;
  std::string_view content;
};

// The document that loads the others.
inline constexpr std::string_view kStartFile = "index.html";

// nullptr: there is none of that name.
const PageFile* find_page_file(std::string_view name);

// All of them, by name.
const std::vector<PageFile>& page_files();

}  // namespace slackline::web
