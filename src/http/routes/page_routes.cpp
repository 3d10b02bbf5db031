#include "http/routes/page_routes.h"

#include <string>

#include "web/page_files.h"

namespace slackline::http {
namespace {

constexpr const char* kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

Response file_answer(const web::PageFile& file) {
  Response response;
  response.content_type = file.content_type;
  response.body = file.content;
  response.headers = {{"Content-Security-Policy", kPolicy},
                      {"X-Content-Type-Options", "nosniff"},
                      {"Referrer-Policy", "no-referrer"},
                      {"Cross-Origin-Opener-Policy", "same-origin"},
                      {"Cache-Control", "no-cache"}};
  return response;
}

Response get_file(const Router& router, const std::string& name) {
  const web::PageFile* file = web::find_page_file(name);
  return file == nullptr ? router.error(404, "the page has no such file") : file_answer(*file);
}

}  // namespace

void add_page_routes(Router& router) {
  router.add(
      {.method = "GET",
       .pattern = "/",
       .handler =
           [&router](const Request&) { return get_file(router, std::string(web::kStartFile)); },
       .pool = Pool::kHot});
  router.add({.method = "GET",
              .pattern = "/page/{file}",
              .handler =
                  [&router](const Request& request) {
                    return get_file(router, request.params.at("file"));
                  },
              .pool = Pool::kHot});
}

}  // namespace slackline::http
