// The REST API.
//
// JSON, or a text table where the client accepts text/plain. Lists take `limit` (1..1000, default
// 500) and `continue`, which continues the same list (pages.h). Errors are Kubernetes Status
// documents with a stable reason: 415 where a body is of another type than the route takes, 503
// with the remedy while a database cannot be written.
//
// All references outlive the router. `before` is called before each answer, so that it includes all
// ended tasks.
#pragma once

#include <cstdint>
#include <functional>

#include "control/answers/answer_query.h"
#include "control/learn/models.h"
#include "control/learn/progress_reports.h"
#include "control/portrait/portrait_query.h"
#include "control/query/calibration_query.h"
#include "control/query/queries.h"
#include "control/query/reports.h"
#include "http/routes/pages.h"
#include "http/server/router.h"
#include "message/admission_review.h"
#include "slackline/base/clock.h"
#include "slackline/model/gpu_catalog.h"

namespace slackline::control {
class QueueQuery;
}

namespace slackline::http {

// The server's own refusals become Status documents.
void set_error_pages(Router& router);

// What the one who sent the request may see (routes/api_guard.h); everything where nobody guards
// the listener.
using ViewerOf = std::function<control::Viewer(const Request&)>;

// What is there: /v1/{cluster,nodes,tasks,scores,decisions}, placements, /openapi.json. Sets the
// error pages too.
void add_api_routes(Router& router, const control::Queries& queries, Pages& pages,
                    const ViewerOf& viewer_of);

// What active mode's webhook would say of an object that is created now.
using Foretell = std::function<AdmissionDecision(const AdmissionReview&)>;

// What people ask of the queue's future: eta, explain, quote, what-if, calendar.
void add_answer_routes(Router& router, control::AnswerQuery& answers, Pages& pages,
                       const GpuCatalog& catalog, const Clock& clock, ViewerOf viewer_of,
                       Foretell foretell);

// The calibration runs of a model.
void add_calibration_routes(Router& router, const control::CalibrationQuery& calibrations,
                            Pages& pages);

// GET /v1/events: server-sent events that tell when there is something new to ask for. They carry
// no data of the cluster but a number, so that rights are judged where the data are asked for.
//
// An event's id names the state that it tells of: who asks with `since` = the last id that he has
// seen is told at once if he has missed a change. At most one event in a second, and a comment
// every 15 s, so that both ends notice a broken connection. The stream ends after five minutes
// (Limits::stream_time): then the client asks again, and its token is judged again.
//
// `version` changes whenever an answer may have changed; it is called on the io thread.
void add_event_routes(Router& router, std::function<std::uint64_t()> version, const Clock& clock);

// GET /v1/history
void add_history_routes(Router& router, const control::Queries& queries, const Clock& clock,
                        std::function<void()> before);

inline constexpr std::size_t kMaxSamplesBody = std::size_t{2} << 20;
inline constexpr std::size_t kMaxDescriptorBody = std::size_t{64} << 10;

// Throughput models: GET /v1/models and /v1/models/{model}, POST .../samples (JSON or CSV; longer
// than `max_samples` bytes: 413), PUT, DELETE.
void add_model_routes(Router& router, const control::Queries& queries, control::Models& models,
                      Pages& pages, std::size_t max_samples = kMaxSamplesBody);

inline constexpr std::size_t kMaxPortraitsBody = std::size_t{16} << 20;

// What families of tasks use: GET /v1/portraits and /v1/portraits/{family}, POST (an import),
// DELETE.
void add_portrait_routes(Router& router, control::PortraitQuery& portraits, Pages& pages);

// POST /v1/tasks/{ns}/{name}/progress: a training Job tells how far it is (docs/PROGRESS.md).
//
// Off loopback for ServiceAccounts of the namespace (api_guard.h). 429 with Retry-After over the
// rate of the task.
void add_progress_routes(Router& router, control::ProgressReports& progress);

// GET /v1/queue and /v1/shares
void add_queue_routes(Router& router, control::QueueQuery& queue, Pages& pages,
                      const ViewerOf& viewer_of);

// GET /v1/reports
void add_report_routes(Router& router, const control::Reports& reports, Pages& pages,
                       const Clock& clock, std::function<void()> before);

}  // namespace slackline::http
