#include "cli/own_authority.h"

#include <utility>

#include "cli/object_name.h"
#include "cli/own_certificate.h"
#include "slackline/base/clock.h"

namespace slackline::cli {
namespace {

constexpr const char* kClientName = "kube-scheduler";

}  // namespace

Result<std::unique_ptr<OwnAuthority>> OwnAuthority::start(
    const config::Configuration& configuration, cluster::ApiClient* api,
    obs::MetricsRegistry& metrics) {
  if (api == nullptr)
    return fail(ErrorCode::kInvalidArgument,
                "listeners.extender: without an API server to share certificates through it needs "
                "TLS files: tls.certFile, keyFile, clientCAFile and clientNames");
  const config::ExtenderSettings& settings = configuration.extender;
  std::unique_ptr<OwnAuthority> own(new OwnAuthority());
  SLACKLINE_ASSIGN(own->file_, own_file(configuration, "extender", "extender.pem"));
  SLACKLINE_ASSIGN(own->trust_file_, own_file(configuration, "extender", "extender-clients.pem"));
  own->store_ =
      cluster::make_authority_store(*api, {.secret = key_of(settings.certificate.secret),
                                           .trust = key_of(settings.trust),
                                           .client_secret = key_of(settings.client_secret)});
  own->keeper_ = std::make_unique<control::AuthorityKeeper>(
      control::AuthorityOptions{.server_names = settings.certificate.names,
                                .client_name = kClientName,
                                .life_s = settings.certificate.life_s,
                                .authority_life_s = settings.authority_life_s,
                                .file = own->file_,
                                .trust_file = own->trust_file_},
      *own->store_, own->maker_, metrics, system_clock());
  SLACKLINE_TRY(own->keeper_->start());
  return own;
}

http::TlsOptions OwnAuthority::tls() const {
  return {file_, file_, trust_file_, {kClientName}};
}

}  // namespace slackline::cli
