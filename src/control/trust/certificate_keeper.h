// CertificateKeeper: a listener's own certificate, made by us and shared by all replicas.
//
// The pair lies in a Secret, which is written only with a precondition, so replicas agree on one. A
// new certificate authority signs each new pair and its key is thrown away. Rotation at two thirds
// of the life: the Secret's bundle then holds the new authority and the one before, the bundle is
// published at once (cluster/api/certificate_store.h), and the new pair is served a little later
// (lead_s), when every API server has heard of it. The old pair is valid all the while: no
// handshake fails. (Who reads the bundle only when it starts, as kube-scheduler does, is served by
// authority_keeper.h.)
//
// What is served lies in one PEM file, replaced atomically; the listener notices by itself
// (http/server/tls.h). Without an API server a pair of our own is served until the shared one can
// be had.
//
// Thread-safety: start() and stop() from one thread; one thread of its own between them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cluster/api/certificate_store.h"
#include "control/trust/certificate_maker.h"
#include "control/trust/shared_secret.h"
#include "obs/said_once.h"
#include "slackline/base/clock.h"
#include "slackline/base/result.h"
#include "slackline/base/worker.h"

namespace slackline::control {

struct CertificateOptions {
  std::string listener;  // whose it is, for the log
  std::vector<std::string> names;
  double life_s = 90 * 86400.0;
  std::string file;  // PEM: key and certificate; mode 0600
  // Told of the authorities (PEM) that vouch for what is served, on the keeper's thread and in
  // start(); must not block.
  std::function<void(const std::string&)> on_authorities = [](const std::string&) {};
};

// The rhythm that follows from the life of a pair.
double lead_s(double life_s);                         // 30 s, less for short lives
bool is_due(const Validity& validity, double now_s);  // two thirds are over, or it is not valid yet
// From a little before now, for hosts whose clocks are behind ours.
Validity validity_from(double now_s, double life_s);

class CertificateKeeper {
 public:
  // `store` and `maker` outlive it.
  CertificateKeeper(CertificateOptions options, cluster::CertificateStore& store,
                    const CertificateMaker& maker, const Clock& clock);

  // The file is there when it returns. Fails only where it cannot be written.
  Status start();
  void stop();  // waits for a look under way

  // One look at everything, as the thread takes it; the error is what it logs.
  Status look();

 private:
  Result<CertificateSet> agree_on_one();
  Result<CertificateSet> make_anew(const std::string& old_authorities) const;
  Status serve(const CertificateSet& set);
  void look_and_log();

  const CertificateOptions options_;
  cluster::CertificateStore& store_;
  const CertificateMaker& maker_;
  const Clock& clock_;
  std::string served_;          // the certificate in the file
  std::string announced_;       // the certificate whose authority is published
  double announced_s_ = 0;      // since when, steady clock
  bool serves_shared_ = false;  // what is served comes from the Secret: others trust it
  obs::SaidOnce failures_;

  Worker worker_;  // last: its thread ends first
};

}  // namespace slackline::control
