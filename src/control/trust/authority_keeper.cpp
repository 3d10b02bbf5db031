#include "control/trust/authority_keeper.h"

#include <algorithm>
#include <utility>

#include "control/trust/certificate_keeper.h"
#include "control/trust/private_file.h"
#include "obs/log.h"
#include "slackline/base/text.h"

namespace slackline::control {
namespace {

// Why something has to be made again; empty if it has not.
std::string overdue(const Result<Validity>& validity, double now_s) {
  if (!validity) return validity.error().message;
  return is_due(*validity, now_s) ? "two thirds of its life are over" : "";
}

}  // namespace

AuthorityKeeper::AuthorityKeeper(AuthorityOptions options, cluster::AuthorityStore& store,
                                 const AuthorityMaker& maker, obs::MetricsRegistry& metrics,
                                 const Clock& clock)
    : options_(std::move(options)),
      store_(store),
      maker_(maker),
      clock_(clock),
      authority_made_(metrics.gauge("slackline_extender_authority_made_timestamp_seconds")),
      restart_by_(metrics.gauge("slackline_extender_restart_by_timestamp_seconds")) {}

Status AuthorityKeeper::start() {
  look_and_log();
  if (served_.empty()) {
    MutualCertificates own;
    if (auto made = renew_authority(own); !made) return fail(made.error());
    SLACKLINE_TRY(serve(own));
  }
  worker_.start([this] {
    while (worker_.wait(look_every_s(options_.life_s)))
      look_and_log();
  });
  return {};
}

void AuthorityKeeper::stop() {
  worker_.stop();
  worker_.join();
}

void AuthorityKeeper::look_and_log() {
  const Status looked = look();
  if (failures_.is_news(looked))
    obs::log_warning("certificate",
                     {{"listener", "extender"},
                      {"error", looked.error().message},
                      {"remedy",
                       "are the Secrets and the ConfigMap there that the chart brings with "
                       "kubeScheduler.form beside or none? trying again"}});
}

Status AuthorityKeeper::look() {
  SLACKLINE_ASSIGN(const MutualCertificates certificates, agree_on_one());
  SLACKLINE_TRY(serve(certificates));
  show(certificates);
  return store_.publish(certificates);
}

// What the Secret holds, after putting there what was missing, broken or due.
Result<MutualCertificates> AuthorityKeeper::agree_on_one() {
  return agree([this]() -> Result<MutualCertificates> {
    SLACKLINE_ASSIGN(const auto stored, store_.read());
    MutualCertificates certificates = stored.certificates;
    SLACKLINE_ASSIGN(const std::string why, renew(certificates));
    if (why.empty()) return certificates;
    SLACKLINE_TRY(store_.replace(certificates, stored.resource_version));
    obs::log_info("certificate_made", {{"listener", "extender"}, {"because", why}});
    return certificates;
  });
}

Result<std::string> AuthorityKeeper::renew(MutualCertificates& certificates) const {
  const double now_s = clock_.wall_s();
  const Authority& authority = certificates.authority;
  const auto validity = maker_.inspect(authority);
  if (!validity || is_due(validity->newest, now_s)) return renew_authority(certificates);
  const std::string server =
      overdue(maker_.inspect_leaf(authority, certificates.server, CertificateUse::kServer,
                                  options_.server_names),
              now_s);
  const std::string client =
      overdue(maker_.inspect_leaf(authority, certificates.client, CertificateUse::kClient,
                                  {options_.client_name}),
              now_s);
  if (server.empty() && client.empty()) return std::string();
  SLACKLINE_TRY(make_leaves(certificates));
  return server.empty() ? "client: " + client : "server: " + server;
}

Result<std::string> AuthorityKeeper::renew_authority(MutualCertificates& certificates) const {
  const auto old = maker_.inspect(certificates.authority);
  const bool vouches = old && clock_.wall_s() < old->newest.until_s;
  SLACKLINE_ASSIGN(const Authority made,
                   maker_.make_authority(validity_from(clock_.wall_s(), options_.authority_life_s),
                                         vouches ? &certificates.authority : nullptr));
  certificates.authority = made;
  SLACKLINE_TRY(make_leaves(certificates));
  return "authority: " + (old ? "two thirds of its life are over; restart kube-scheduler in time"
                              : old.error().message);
}

Status AuthorityKeeper::make_leaves(MutualCertificates& certificates) const {
  const Authority& authority = certificates.authority;
  SLACKLINE_ASSIGN(const AuthorityValidity limits, maker_.inspect(authority));
  Validity validity = validity_from(clock_.wall_s(), options_.life_s);
  validity.until_s = std::min(validity.until_s, limits.newest.until_s);
  SLACKLINE_ASSIGN(certificates.server, maker_.make_leaf(authority, CertificateUse::kServer,
                                                         options_.server_names, validity));
  SLACKLINE_ASSIGN(certificates.client, maker_.make_leaf(authority, CertificateUse::kClient,
                                                         {options_.client_name}, validity));
  return {};
}

// First whom to trust: what the other replica gave to kube-scheduler must not be refused here.
Status AuthorityKeeper::serve(const MutualCertificates& certificates) {
  const std::string pair = certificates.server.key + certificates.server.chain;
  const std::string& trusted = certificates.authority.certificates;
  if (served_ == pair + trusted) return {};
  SLACKLINE_TRY(replace_private_file(options_.trust_file, trusted));
  SLACKLINE_TRY(replace_private_file(options_.file, pair));
  served_ = pair + trusted;
  return {};
}

void AuthorityKeeper::show(const MutualCertificates& certificates) {
  const auto validity = maker_.inspect(certificates.authority);
  if (!validity) return;
  authority_made_.set(validity->newest.from_s);
  const bool overlap = validity->before_until_s > clock_.wall_s();
  restart_by_.set(overlap ? validity->before_until_s : 0);
}

}  // namespace slackline::control
