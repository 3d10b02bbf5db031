// AuthorityKeeper: mutual TLS between kube-scheduler and the extender under an authority of our
// own.
//
// One Secret holds the authority with its key and both ends' certificates. It is written only with
// a precondition, so replicas agree without a leader. The server's certificate and what clients
// must be vouched for by lie in two PEM files, which the listener reads again by itself
// (http/server/tls.h); the client's certificate and whom to trust are published to where
// kube-scheduler reads them (cluster/api/authority_store.h).
//
// Rotation at two thirds of a life. kube-scheduler reads its certificate for every handshake, so
// both certificates change without a word. Whom it trusts it reads when it starts, so a new
// authority is vouched for by the one before (a cross certificate in every chain): nothing breaks
// until that one expires, a third of its life later. Until then kube-scheduler must be started
// again once, which the gauges say.
//
// Without an API server certificates of our own are served until the shared ones can be had.
//
// Thread-safety: start() and stop() from one thread; one thread of its own between them.
#pragma once

#include <string>
#include <vector>

#include "cluster/api/authority_store.h"
#include "control/trust/authority_maker.h"
#include "obs/metrics.h"
#include "obs/said_once.h"
#include "slackline/base/clock.h"
#include "slackline/base/result.h"
#include "slackline/base/worker.h"

namespace slackline::control {

struct AuthorityOptions {
  std::vector<std::string> server_names;  // what kube-scheduler calls the extender by
  std::string client_name;                // what kube-scheduler's certificate says it is
  double life_s = 30 * 86400.0;           // of both certificates
  double authority_life_s = 3650 * 86400.0;
  std::string file;        // PEM: the server's key and chain; mode 0600
  std::string trust_file;  // PEM: the authorities that vouch for clients; likewise
};

class AuthorityKeeper {
 public:
  // `store`, `maker`, `clock` and `metrics` outlive it.
  AuthorityKeeper(AuthorityOptions options, cluster::AuthorityStore& store,
                  const AuthorityMaker& maker, obs::MetricsRegistry& metrics, const Clock& clock);

  // Both files are there when it returns. Fails only where they cannot be written.
  Status start();
  void stop();  // waits for a look under way

  // One look at everything, as the thread takes it; the error is what it logs.
  Status look();

 private:
  Result<MutualCertificates> agree_on_one();
  // Renews what is missing, broken or due. Returns what that was; empty if nothing was.
  Result<std::string> renew(MutualCertificates& certificates) const;
  Result<std::string> renew_authority(MutualCertificates& certificates) const;
  Status make_leaves(MutualCertificates& certificates) const;
  Status serve(const MutualCertificates& certificates);
  void show(const MutualCertificates& certificates);
  void look_and_log();

  const AuthorityOptions options_;
  cluster::AuthorityStore& store_;
  const AuthorityMaker& maker_;
  const Clock& clock_;
  const obs::Gauge authority_made_;
  const obs::Gauge restart_by_;
  std::string served_;  // what is in the files
  obs::SaidOnce failures_;

  Worker worker_;  // last: its thread ends first
};

}  // namespace slackline::control
