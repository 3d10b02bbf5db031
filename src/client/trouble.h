// Why a server could not be asked, in words. Private to this layer.
//
// cpp-httplib only says at which step it gave up; what the port speaks is found out by asking it
// once more, without a token or a certificate.
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
