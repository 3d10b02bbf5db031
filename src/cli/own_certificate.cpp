#include "cli/own_certificate.h"

#include <filesystem>
#include <utility>

#include "cli/object_name.h"
#include "slackline/base/clock.h"
#include "slackline/base/text.h"

namespace slackline::cli {

Result<std::unique_ptr<OwnCertificate>> OwnCertificate::start(
    const std::string& listener, const config::Configuration& configuration,
    const config::CertificateSettings& settings, const TellsWhom& whom) {
  if (!configuration.cluster.dump_file.empty())
    return fail(ErrorCode::kInvalidArgument,
                format("listeners.{}: without an API server to share a certificate through it "
                       "needs TLS files: tls.certFile and tls.keyFile",
                       listener));
  std::unique_ptr<OwnCertificate> own(new OwnCertificate());
  own->file_ =
      std::filesystem::path(configuration.store.path).replace_filename(listener + ".pem").string();
  SLACKLINE_ASSIGN(own->store_,
                   cluster::make_certificate_store({.kubeconfig = configuration.cluster.kubeconfig},
                                                   {.secret = key_of(settings.secret),
                                                    .configuration = whom.webhook_configuration,
                                                    .config_map = key_of(whom.config_map)}));
  own->keeper_ = std::make_unique<control::CertificateKeeper>(
      control::CertificateOptions{.listener = listener,
                                  .names = settings.names,
                                  .life_s = settings.life_s,
                                  .file = own->file_},
      *own->store_, own->maker_, system_clock());
  SLACKLINE_TRY(own->keeper_->start());
  return own;
}

http::TlsOptions OwnCertificate::tls() const {
  return {file_, file_, {}};
}

}  // namespace slackline::cli
