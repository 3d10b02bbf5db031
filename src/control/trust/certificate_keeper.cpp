#include "control/trust/certificate_keeper.h"

#include <algorithm>
#include <utility>

#include "control/trust/private_file.h"
#include "obs/log.h"
#include "slackline/base/text.h"

namespace slackline::control {
namespace {

constexpr std::string_view kEnd = "-----END CERTIFICATE-----\n";

std::string first_certificate(const std::string& bundle) {
  const std::size_t end = bundle.find(kEnd);
  return end == std::string::npos ? std::string() : bundle.substr(0, end + kEnd.size());
}

}  // namespace

double lead_s(double life_s) {
  return std::min(life_s / 10, 30.0);
}

bool is_due(const Validity& validity, double now_s) {
  const double life_s = validity.until_s - validity.from_s;
  return now_s < validity.from_s || now_s >= validity.from_s + life_s * 2 / 3;
}

Validity validity_from(double now_s, double life_s) {
  return {now_s - std::min(300.0, life_s / 10), now_s + life_s};
}

CertificateKeeper::CertificateKeeper(CertificateOptions options, cluster::CertificateStore& store,
                                     const CertificateMaker& maker, const Clock& clock)
    : options_(std::move(options)), store_(store), maker_(maker), clock_(clock) {}

Status CertificateKeeper::start() {
  look_and_log();
  if (served_.empty()) {
    SLACKLINE_ASSIGN(const CertificateSet own, make_anew(""));
    SLACKLINE_TRY(serve(own));
  }
  worker_.start([this] {
    while (worker_.wait(look_every_s(options_.life_s)))
      look_and_log();
  });
  return {};
}

void CertificateKeeper::stop() {
  worker_.stop();
  worker_.join();
}

void CertificateKeeper::look_and_log() {
  const Status looked = look();
  if (failures_.is_news(looked))
    obs::log_warning(
        "certificate",
        {{"listener", options_.listener},
         {"error", looked.error().message},
         {"remedy", "is the Secret there that the chart and deploy/base bring? trying again"}});
}

Status CertificateKeeper::look() {
  SLACKLINE_ASSIGN(const CertificateSet set, agree_on_one());
  options_.on_authorities(set.authorities);
  Status published = store_.publish(set.authorities);
  // Where we may not write the configurations, or they are not there, somebody else vouches for us.
  const bool settled = published || (published.error().code != ErrorCode::kUnavailable &&
                                     published.error().code != ErrorCode::kTimeout);
  if (settled && announced_ != set.certificate) {
    announced_ = set.certificate;
    announced_s_ = clock_.steady_s();
  }
  const bool known =
      announced_ == set.certificate && clock_.steady_s() - announced_s_ >= lead_s(options_.life_s);
  if (set.certificate != served_ && (known || !serves_shared_)) {
    SLACKLINE_TRY(serve(set));
    serves_shared_ = true;
  }
  return published;
}

// The pair in the Secret, after putting a new one there where it is missing, broken or due.
Result<CertificateSet> CertificateKeeper::agree_on_one() {
  return agree([this]() -> Result<CertificateSet> {
    SLACKLINE_ASSIGN(const auto stored, store_.read());
    const auto validity = maker_.inspect(stored.set, options_.names);
    if (validity && !is_due(*validity, clock_.wall_s())) return stored.set;
    SLACKLINE_ASSIGN(CertificateSet fresh, make_anew(stored.set.authorities));
    SLACKLINE_TRY(store_.replace(fresh, stored.resource_version));
    obs::log_info("certificate_made",
                  {{"listener", options_.listener},
                   {"because", validity ? "two thirds of its life are over"
                                        : std::string_view(validity.error().message)}});
    return fresh;
  });
}

Result<CertificateSet> CertificateKeeper::make_anew(const std::string& old_authorities) const {
  SLACKLINE_ASSIGN(CertificateSet set,
                   maker_.make(options_.names, validity_from(clock_.wall_s(), options_.life_s)));
  // The one before vouches for the pair that others still serve; older ones have expired.
  set.authorities += first_certificate(old_authorities);
  return set;
}

Status CertificateKeeper::serve(const CertificateSet& set) {
  SLACKLINE_TRY(replace_private_file(options_.file, set.key + set.certificate));
  served_ = set.certificate;
  return {};
}

}  // namespace slackline::control
