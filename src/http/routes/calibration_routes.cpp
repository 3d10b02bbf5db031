#include <utility>

#include "http/routes/answers.h"
#include "http/routes/api_routes.h"
#include "http/routes/openapi.h"

namespace slackline::http {
namespace {

constexpr const char* kCalibration = "/v1/models/{model}/calibration";

using Calibrations = Result<control::CalibrationQuery::Answer>;

Result<Listing<CalibrationRow>> listing_of(Calibrations answer) {
  if (!answer) return fail(answer.error());
  Listing<CalibrationRow> listing;
  listing.facts = wire::encode_one(answer->view);
  listing.preface = wire::preface_of(answer->view);
  listing.rows = std::move(answer->rows);
  return listing;
}

}  // namespace

void add_calibration_routes(Router& router, const control::CalibrationQuery& calibrations,
                            Pages& pages) {
  router.add({.method = "GET",
              .pattern = kCalibration,
              .handler =
                  [&calibrations, &pages](const Request& request) {
                    return show_page(request, pages, [&] {
                      return listing_of(
                          calibrations.of(request.params.at("model"), given(request, "namespace")));
                    });
                  },
              .parameters = list_parameters({namespace_parameter()}),
              .namespace_parameter = "namespace",
              .operation = answers_list<CalibrationRow>(
                  "getCalibration",
                  "The short runs that would say most of the speed of a model, and why, and those "
                  "that there were",
                  "Runs by GPU type, the one that says most first", {{400}, {404}, list_is_gone()},
                  wire::members_of<CalibrationView>()),
              .takes_slashes = true});
  router.add(
      {.method = "POST",
       .pattern = kCalibration,
       .handler =
           [&calibrations](const Request& request) {
             auto listing = listing_of(
                 calibrations.ask(request.params.at("model"), given(request, "namespace")));
             if (!listing) return failure(listing.error());
             return show(request, *listing, {});
           },
       .parameters = std::vector{namespace_parameter(), output_parameter()},
       .namespace_parameter = "namespace",
       .operation = answers_list<CalibrationRow>(
           "calibrate", "Have these runs made as soon as nobody waits for GPUs, for the next hour",
           "Runs by GPU type, the one that says most first", {{400}, {404}, {503}},
           wire::members_of<CalibrationView>()),
       .takes_slashes = true});
}

}  // namespace slackline::http
