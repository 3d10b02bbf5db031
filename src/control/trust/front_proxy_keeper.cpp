#include "control/trust/front_proxy_keeper.h"

#include <utility>

#include "control/trust/certificate_keeper.h"
#include "control/trust/private_file.h"
#include "obs/log.h"

namespace slackline::control {
namespace {

constexpr double kLook_s = 60;
constexpr double kNobodysLife_s = 10 * 365 * 86400.0;

}  // namespace

Status FrontProxyKeeper::start(const CertificateMaker& maker, const Clock& clock) {
  look_and_log();
  if (known_.get()->client_ca.empty()) {
    SLACKLINE_ASSIGN(const CertificateSet nobodys,
                     maker.make({"nobody"}, validity_from(clock.wall_s(), kNobodysLife_s)));
    SLACKLINE_TRY(replace_private_file(file_, nobodys.authorities));
  }
  worker_.start([this] {
    while (worker_.wait(kLook_s))
      look_and_log();
  });
  return {};
}

void FrontProxyKeeper::stop() {
  worker_.stop();
  worker_.join();
}

Status FrontProxyKeeper::look() {
  SLACKLINE_ASSIGN(FrontProxy proxy, read_());
  const auto before = known_.get();
  if (proxy == *before) return {};
  if (proxy.client_ca != before->client_ca)
    SLACKLINE_TRY(replace_private_file(file_, proxy.client_ca));
  known_.set(std::move(proxy));
  return {};
}

void FrontProxyKeeper::look_and_log() {
  const Status looked = look();
  if (failures_.is_news(looked))
    obs::log_warning(
        "front_proxy",
        {{"listener", "visibility"},
         {"error", looked.error().message},
         {"effect", known_.get()->client_ca.empty() ? "the aggregated API refuses every call"
                                                    : "what was read before counts"},
         {"remedy",
          "bind the Role extension-apiserver-authentication-reader of kube-system to "
          "Slackline's ServiceAccount (the chart does, with visibility.enabled); trying "
          "again"}});
}

}  // namespace slackline::control
