#include "client/client.h"

#include <csignal>
#include <cstdlib>
#include <ctime>
#include <utility>

#include <httplib.h>

#include "client/address.h"
#include "client/proxy.h"
#include "client/trouble.h"
#include "slackline/base/loopback.h"
#include "slackline/base/text.h"
#include "wire/kube/kube_decode.h"

namespace slackline::client {
namespace {

constexpr std::size_t kMaxForeignText = 300;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

Status check_token(const ClientOptions& options) {
  if (options.token.empty() || !is_open_to_the_network(options.url)) return {};
  return fail(ErrorCode::kInvalidArgument,
              format("the token would go over the network in the clear to {}: use https://, or "
                     "`kubectl port-forward` and http://127.0.0.1",
                     printable(options.url)));
}

// A server or proxy that hangs up must not end the program; a pipe that reads the output still may.
class NoBrokenPipe {
 public:
  NoBrokenPipe() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~NoBrokenPipe() {
    const timespec at_once{};
    while (sigtimedwait(&pipe_, nullptr, &at_once) == SIGPIPE) {
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  NoBrokenPipe(const NoBrokenPipe&) = delete;
  NoBrokenPipe& operator=(const NoBrokenPipe&) = delete;

 private:
  sigset_t pipe_{};
  sigset_t before_{};
};

}  // namespace

struct Client::Impl {
  ClientOptions options;
  Address address;
  std::string through;  // "proxy:3128", or empty
  std::unique_ptr<httplib::Client> http;

  Status connect();
  // For every request. The library's own setting for a token would send it to a proxy too, in the
  // clear.
  httplib::Headers headers() const {
    httplib::Headers out;
    if (!options.token.empty()) out.emplace("Authorization", "Bearer " + options.token);
    return out;
  }
  template <class Call>
  Result<Page> call(const std::string& path, const Call& send);
};

Status Client::Impl::connect() {
  SLACKLINE_TRY(check_token(options));
  SLACKLINE_ASSIGN(address, parse_address(options.url));
  SLACKLINE_ASSIGN(const auto proxy, proxy_for(address, environment));
  auto made = options.cert_file.empty()
                  ? std::make_unique<httplib::Client>(address.origin())
                  : std::make_unique<httplib::Client>(address.origin(), options.cert_file,
                                                      options.key_file);
  if (!made->is_valid())
    return fail(ErrorCode::kInvalidArgument,
                format("the client certificate {} and key {} cannot be used: they must be PEM "
                       "files that belong together",
                       printable(options.cert_file), printable(options.key_file)));
  const auto timeout = static_cast<time_t>(options.timeout_s);
  made->set_connection_timeout(timeout);
  made->set_read_timeout(timeout);
  made->set_tcp_nodelay(true);
  made->set_keep_alive(true);
  if (!options.ca_file.empty()) made->set_ca_cert_path(options.ca_file);
  made->enable_server_certificate_verification(true);
  if (proxy) {
    made->set_proxy(proxy->host, proxy->port);
    if (!proxy->user.empty()) made->set_proxy_basic_auth(proxy->user, proxy->password);
    through = format("{}:{}", proxy->host, proxy->port);
  }
  http = std::move(made);
  return {};
}

template <class Call>
Result<Page> Client::Impl::call(const std::string& path, const Call& send) {
  if (!http) SLACKLINE_TRY(connect());
  const NoBrokenPipe guard;
  const httplib::Result result = send(*http, address.prefix + path);
  if (!result)
    return fail(ErrorCode::kUnavailable, trouble(address, options, through, *http, result.error()));
  if (result->status >= 200 && result->status < 300)
    return Page{result->body, result->get_header_value(kContinueHeader)};
  const auto status = wire::decode_status(result->body);
  const std::string reason =
      status ? status->message : printable(trim(result->body), kMaxForeignText);
  return fail(error_of_http_status(result->status), format("{} (HTTP {})", reason, result->status));
}

Client::Client(ClientOptions options) : impl_(std::make_unique<Impl>()) {
  impl_->options = std::move(options);
}
Client::~Client() = default;
Client::Client(Client&&) noexcept = default;
Client& Client::operator=(Client&&) noexcept = default;

Result<Page> Client::get_page(const std::string& path, const std::string& accept) {
  if (impl_->options.way) return impl_->options.way({"GET", path, accept, ""});
  return impl_->call(path, [&](httplib::Client& http, const std::string& target) {
    httplib::Headers headers = impl_->headers();
    headers.emplace("Accept", accept);
    return http.Get(target, headers);
  });
}

Result<std::string> Client::get(const std::string& path, const std::string& accept) {
  SLACKLINE_ASSIGN(Page page, get_page(path, accept));
  return std::move(page.body);
}

Result<std::string> Client::post_json(const std::string& path, const std::string& body) {
  if (impl_->options.way) {
    SLACKLINE_ASSIGN(Page answer, impl_->options.way({"POST", path, "*/*", body}));
    return std::move(answer.body);
  }
  SLACKLINE_ASSIGN(Page page,
                   impl_->call(path, [&](httplib::Client& http, const std::string& target) {
                     return http.Post(target, impl_->headers(), body, "application/json");
                   }));
  return std::move(page.body);
}

Result<std::string> Client::remove(const std::string& path) {
  if (impl_->options.way) {
    SLACKLINE_ASSIGN(Page answer, impl_->options.way({"DELETE", path, "*/*", ""}));
    return std::move(answer.body);
  }
  SLACKLINE_ASSIGN(Page page,
                   impl_->call(path, [&](httplib::Client& http, const std::string& target) {
                     return http.Delete(target, impl_->headers());
                   }));
  return std::move(page.body);
}

bool is_open_to_the_network(std::string_view url) {
  return !to_lower(url).starts_with("https://") && !is_loopback_url(url);
}

std::string encode_query(std::string_view value) {
  std::string out;
  for (const char c : value) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '_' || c == '.' || c == '~' || c == '/';
    if (plain)
      out += c;
    else
      out += format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

}  // namespace slackline::client
