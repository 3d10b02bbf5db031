// GET /v1/events: server-sent events that tell when there is something new to ask for. They carry
// no data of the cluster but a number, so that rights are judged where the data are asked for.
//
// An event's id names the state that it tells of: who asks with `since` = the last id that he has
// seen is told at once if he has missed a change. At most one event in a second, and a comment
// every 15 s, so that both ends notice a broken connection. The stream ends after five minutes
// (Limits::stream_time): then the client asks again, and its token is judged again.
#pragma once

#include <cstdint>
#include <functional>

#include "http/server/router.h"
#include "slackline/base/clock.h"

namespace slackline::http {

// `version` changes whenever an answer may have changed; it is called on the io thread. `clock`
// outlives the router.
void add_event_routes(Router& router, std::function<std::uint64_t()> version, const Clock& clock);

}  // namespace slackline::http
