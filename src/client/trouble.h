// Why a request to a server failed, in words. Private to this layer.
//
// cpp-httplib only reports the step at which it gave up; another request, without a token or a
// certificate, finds out what the port speaks.
#pragma once

#include <string>

#include "client/address.h"
#include "client/client.h"

namespace httplib {
class Client;
enum class Error;
}  // namespace httplib

namespace slackline::client {

// The message for a failed exchange. `through`: the proxy that was asked, or empty.
std::string trouble(const Address& address, const ClientOptions& options,
                    const std::string& through, const httplib::Client& http, httplib::Error error);

}  // namespace slackline::client
