// ExecPlugin: credentials from a program that a kubeconfig names (exec), as those of EKS, GKE and
// AKS do.
//
// The program runs on a thread of its own, one at a time: who waits for it waits no longer than it
// has time for. What it said is used until it expires or is refused (401), and shortly before it
// expires the program runs again beside. A failure is told to everybody for two seconds, then the
// program runs again. What is refused again and again lets it rest: 2, 4, 8 ... 60 s after a run.
//
// Thread-safety: all methods.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "slackline/base/clock.h"
#include "slackline/base/mutex.h"
#include "slackline/base/result.h"
#include "wire/kube/exec_credential_codec.h"

namespace slackline::cluster {

enum class ExecInput { kNever, kIfAvailable, kAlways };

struct ExecSpec {
  std::string command;  // a path, or a name that is looked for in PATH
  std::vector<std::string> arguments{};
  std::vector<std::pair<std::string, std::string>> environment{};  // beside ours
  std::string api_version{};
  std::string install_hint{};
  ExecInput input = ExecInput::kIfAvailable;
  // KUBERNETES_EXEC_INFO, and how long the program may take: alone, and where a person at the
  // terminal may have to answer it.
  std::string info{};
  std::string info_at_terminal{};
  double time_s = 30;
  double terminal_time_s = 300;

  friend bool operator==(const ExecSpec&, const ExecSpec&) = default;
};

class ExecPlugin {
 public:
  struct Credential {
    std::string token{};
    std::string certificate{};
    std::string key{};
    std::uint64_t serial = 0;  // which run of the program it is of
  };

  ExecPlugin(ExecSpec spec, const Clock& clock);
  ~ExecPlugin();  // ends the program
  ExecPlugin(const ExecPlugin&) = delete;
  ExecPlugin& operator=(const ExecPlugin&) = delete;

  // kTimeout: the program has not answered within `wait_s`; it goes on.
  Result<Credential> current(double wait_s);
  // As long as the program may take, which a person at the terminal may have to answer.
  Result<Credential> await();
  // The API server does not take it: the next current() waits for another one.
  void refuse(std::uint64_t serial);
  // From now on all wait together at most a second for it: the process ends.
  void hurry();

 private:
  void run_when_wanted();
  Result<wire::ExecCredential> run() const;
  bool talks() const;
  bool stopping() const;
  bool usable() const SLACKLINE_REQUIRES(mutex_);
  double rest_s() const SLACKLINE_REQUIRES(mutex_);
  void want() SLACKLINE_REQUIRES(mutex_);

  const ExecSpec spec_;
  const Clock& clock_;
  mutable Mutex mutex_;
  CondVar changed_;
  bool stopping_ SLACKLINE_GUARDED_BY(mutex_) = false;
  bool wanted_ SLACKLINE_GUARDED_BY(mutex_) = false;  // until the program has ended
  std::uint64_t runs_ SLACKLINE_GUARDED_BY(mutex_) = 0;
  double began_s_ SLACKLINE_GUARDED_BY(mutex_) = 0;
  double ended_s_ SLACKLINE_GUARDED_BY(mutex_) = 0;
  Credential credential_ SLACKLINE_GUARDED_BY(mutex_);  // serial 0: none
  double expires_s_ SLACKLINE_GUARDED_BY(mutex_) = 0;   // 0: never by itself
  double hurry_until_s_ SLACKLINE_GUARDED_BY(mutex_) = std::numeric_limits<double>::infinity();
  Error error_ SLACKLINE_GUARDED_BY(mutex_);         // of the last run; without a message: none
  int refusals_ SLACKLINE_GUARDED_BY(mutex_) = 0;    // in a row, each soon after the run
  std::thread thread_ SLACKLINE_GUARDED_BY(mutex_);  // begins when it is first wanted
};

// The one of this process for that program: all that speak to one API server share its answer.
std::shared_ptr<ExecPlugin> shared_plugin(const ExecSpec& spec);

}  // namespace slackline::cluster
