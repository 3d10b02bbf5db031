#include "cli/own_certificate.h"

#include <filesystem>
#include <utility>

#include "cli/object_name.h"
#include "slackline/base/clock.h"

namespace slackline::cli {

Result<std::unique_ptr<OwnCertificate>> OwnCertificate::start(
    const config::Configuration& configuration) {
  if (!configuration.cluster.dump_file.empty())
    return fail(ErrorCode::kInvalidArgument,
                "listeners.webhook: without an API server to share a certificate through it needs "
                "TLS files: tls.certFile and tls.keyFile");
  const config::WebhookSettings& settings = configuration.webhook;
  std::unique_ptr<OwnCertificate> own(new OwnCertificate());
  own->file_ =
      std::filesystem::path(configuration.store.path).replace_filename("webhook.pem").string();
  SLACKLINE_ASSIGN(own->store_,
                   cluster::make_certificate_store({.kubeconfig = configuration.cluster.kubeconfig},
                                                   {.secret = key_of(settings.certificate.secret),
                                                    .configuration = settings.configuration}));
  own->keeper_ = std::make_unique<control::CertificateKeeper>(
      control::CertificateOptions{.listener = "webhook",
                                  .names = settings.certificate.names,
                                  .life_s = settings.certificate.life_s,
                                  .file = own->file_},
      *own->store_, own->maker_, system_clock());
  SLACKLINE_TRY(own->keeper_->start());
  return own;
}

http::TlsOptions OwnCertificate::tls() const {
  return {file_, file_, {}, {}};
}

}  // namespace slackline::cli
