#include "client/trouble.h"

#include <cerrno>
#include <cstring>
#include <memory>

#include <fcntl.h>
#include <httplib.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "slackline/base/text.h"

namespace slackline::client {
namespace {

constexpr int kProbe_s = 2;

// The error of connecting to one address; 0 without one.
int connect_error(const addrinfo& to) {
  const int fd = ::socket(to.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return errno;
  int error = ::connect(fd, to.ai_addr, to.ai_addrlen) == 0 ? 0 : errno;
  if (error == EINPROGRESS) {
    pollfd wait{fd, POLLOUT, 0};
    socklen_t size = sizeof error;
    if (::poll(&wait, 1, kProbe_s * 1000) <= 0)
      error = ETIMEDOUT;
    else if (::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0)
      error = errno;
  }
  ::close(fd);
  return error;
}

std::string why_no_connection(const std::string& host, int port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int unknown = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (unknown != 0) return format("the name {} is not known: {}", host, ::gai_strerror(unknown));
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> all(found, &::freeaddrinfo);
  int error = 0;
  for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
    error = connect_error(*each);
    if (error == 0) break;
  }
  if (error == ECONNREFUSED) return "connection refused: nothing listens there";
  return error == 0 ? "the connection ended at once" : std::strerror(error);
}

// An answer to a bare GET / there: `tls` unverified, because the request carries no secret.
bool answers(const Address& address, bool tls) {
  Address other = address;
  other.tls = tls;
  httplib::Client probe(other.origin());
  probe.enable_server_certificate_verification(false);
  probe.set_connection_timeout(kProbe_s);
  probe.set_read_timeout(kProbe_s);
  const auto result = probe.Get("/");
  if (result || !tls) return bool(result);
  // A server that demands a certificate ends the connection after the handshake.
  return result.error() == httplib::Error::Read || result.error() == httplib::Error::Write;
}

std::string unverified(const Address& address, const ClientOptions& options,
                       const httplib::Client& http) {
  const long result = http.get_openssl_verify_result();
  const std::string why = result == X509_V_OK ? format("it is not for the name {}", address.host)
                                              : std::string(X509_verify_cert_error_string(result));
  return format(
      "the certificate of {} cannot be verified ({}) by {}; name the CA that signed it "
      "with --ca-file. No token was sent",
      address.origin(), why,
      options.ca_file.empty() ? "this machine's CAs" : "the CA in " + options.ca_file);
}

}  // namespace

std::string trouble(const Address& address, const ClientOptions& options,
                    const std::string& through, const httplib::Client& http, httplib::Error error) {
  using httplib::Error;
  const std::string url = printable(options.url, 200);
  if (error == Error::SSLServerVerification) return unverified(address, options, http);
  if (error == Error::SSLLoadingCerts)
    return format("the CA file {} cannot be read as PEM", printable(options.ca_file));
  if (!through.empty())
    return format(
        "{} cannot be reached through the proxy {} ({}); name the server in NO_PROXY if "
        "it needs none",
        url, through,
        error == Error::Connection      ? "connecting to it failed"
        : error == Error::SSLConnection ? "it refused, or the TLS handshake failed"
                                        : "no complete answer came");
  if (error == Error::SSLConnection && answers(address, false))
    return format(
        "{}: this port speaks plain HTTP; write http:// (a token goes over plain HTTP to "
        "this machine only)",
        url);
  if (!address.tls && (error == Error::Read || error == Error::Write) && answers(address, true))
    return format("{}: this port speaks HTTPS; write https://, and name its CA with --ca-file",
                  url);
  std::string why;
  if (error == Error::Connection || error == Error::ConnectionTimeout)
    why = why_no_connection(address.host, address.port);
  else if (error == Error::SSLConnection)
    why = "the TLS handshake failed";
  else if (error == Error::Read || error == Error::Write)
    why = format("connected, but no complete answer came within {:g} s", options.timeout_s);
  else
    why = httplib::to_string(error);
  return format(
      "no daemon answers at {} ({}); start one with `slackline serve`, or name its "
      "address with --server",
      url, why);
}

}  // namespace slackline::client
