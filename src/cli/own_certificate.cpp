#include "cli/own_certificate.h"

#include <filesystem>
#include <utility>

#include "cli/object_name.h"
#include "slackline/base/clock.h"
#include "slackline/base/text.h"

namespace slackline::cli {

Result<std::string> own_file(const config::Configuration& configuration, std::string_view listener,
                             const std::string& name) {
  if (configuration.store.in_memory())
    return fail(ErrorCode::kInvalidArgument,
                format("listeners.{}: Slackline's own certificate is kept in a file next to the "
                       "store, and store {} writes none: give the listener TLS files "
                       "(tls.certFile, tls.keyFile), or name a store",
                       listener, kNoFile));
  return std::filesystem::path(configuration.store.path).replace_filename(name).string();
}

Result<std::unique_ptr<OwnCertificate>> OwnCertificate::start(
    const config::Configuration& configuration, cluster::ApiClient* api,
    const OwnCertificateOptions& options) {
  if (api == nullptr)
    return fail(ErrorCode::kInvalidArgument,
                format("listeners.{}: without an API server to share a certificate through it "
                       "needs TLS files: tls.certFile and tls.keyFile",
                       options.listener));
  std::unique_ptr<OwnCertificate> own(new OwnCertificate());
  SLACKLINE_ASSIGN(own->file_, own_file(configuration, options.listener, options.file));
  cluster::CertificateStoreOptions shared{.secret = key_of(options.settings.secret),
                                          .configuration = options.configuration,
                                          .api_service = options.api_service};
  if (!options.trust.empty()) shared.trust = key_of(options.trust);
  own->store_ = cluster::make_certificate_store(*api, std::move(shared));
  control::CertificateOptions kept{.listener = options.listener,
                                   .names = options.settings.names,
                                   .life_s = options.settings.life_s,
                                   .file = own->file_};
  if (options.authorities != nullptr)
    kept.on_authorities = [to = options.authorities](const std::string& pem) { to->set(pem); };
  own->keeper_ = std::make_unique<control::CertificateKeeper>(std::move(kept), *own->store_,
                                                              own->maker_, system_clock());
  SLACKLINE_TRY(own->keeper_->start());
  return own;
}

http::TlsOptions OwnCertificate::tls() const {
  return {file_, file_, {}, {}};
}

Result<std::unique_ptr<OwnCertificate>> serve_own_certificate(
    const config::Configuration& configuration, cluster::ApiClient* api,
    const OwnCertificateOptions& options, http::Listener& listener) {
  if (listener.tls && !listener.tls->cert_file.empty()) return std::unique_ptr<OwnCertificate>();
  SLACKLINE_ASSIGN(auto own, OwnCertificate::start(configuration, api, options));
  http::TlsOptions tls = own->tls();
  if (listener.tls) {
    tls.client_ca_file = listener.tls->client_ca_file;
    tls.client_names = listener.tls->client_names;
  }
  listener.tls = std::move(tls);
  return own;
}

}  // namespace slackline::cli
