// Listeners as the configuration describes them.
#pragma once

#include <string>

#include "config/configuration.h"
#include "http/server/server.h"

namespace slackline::cli {

// `router` outlives the server. Without tls where the settings have none.
http::Listener listener_of(std::string name, const config::ListenerSettings& settings,
                           const http::Router& router);

}  // namespace slackline::cli
