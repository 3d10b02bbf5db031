// REST: the calibration runs of a model.
#pragma once

#include "control/query/calibration_query.h"
#include "http/routes/pages.h"
#include "http/server/router.h"

namespace slackline::http {

void add_calibration_routes(Router& router, const control::CalibrationQuery& calibrations,
                            Pages& pages);

}  // namespace slackline::http
