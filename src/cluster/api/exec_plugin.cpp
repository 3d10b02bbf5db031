#include "cluster/api/exec_plugin.h"

#include <algorithm>
#include <cmath>
#include <csignal>

#include <unistd.h>

#include "cluster/api/child_process.h"
#include "slackline/base/text.h"

namespace slackline::cluster {
namespace {

constexpr std::size_t kMaxOutput = std::size_t{1} << 20;
constexpr double kFailureHolds_s = 2;
constexpr double kBefore_s = 60;       // so long before it expires another one is asked for,
constexpr double kBetweenRuns_s = 10;  // though not all the time
constexpr double kLongestRest_s = 60;
constexpr double kLastWait_s = 1;
constexpr double kToEnd_s = 2;  // after its time it is ended, and that is said
constexpr const char* kInfo = "KUBERNETES_EXEC_INFO";

bool at_terminal() {
  return ::isatty(STDIN_FILENO) == 1;
}

void set(std::vector<std::string>& environment, const std::string& name, const std::string& value) {
  std::erase_if(environment, [&](const std::string& each) { return each.starts_with(name + "="); });
  environment.push_back(name + "=" + value);
}

}  // namespace

ExecPlugin::ExecPlugin(ExecSpec spec, const Clock& clock) : spec_(std::move(spec)), clock_(clock) {}

ExecPlugin::~ExecPlugin() {
  std::thread ending;
  {
    MutexLock lock(mutex_);
    stopping_ = true;
    ending.swap(thread_);
  }
  changed_.notify_all();
  if (ending.joinable()) ending.join();
}

bool ExecPlugin::stopping() const {
  MutexLock lock(mutex_);
  return stopping_;
}

bool ExecPlugin::usable() const {
  return credential_.serial > 0 && (expires_s_ == 0 || clock_.wall_s() < expires_s_);
}

// After what it said was refused more than once.
double ExecPlugin::rest_s() const {
  if (refusals_ < 2) return 0;
  const double pause_s = std::min(kLongestRest_s, std::ldexp(1.0, refusals_ - 1));
  return ended_s_ + pause_s - clock_.steady_s();
}

void ExecPlugin::want() {
  if (wanted_) return;
  wanted_ = true;
  began_s_ = clock_.steady_s();
  if (!thread_.joinable()) thread_ = std::thread([this] { run_when_wanted(); });
  changed_.notify_all();
}

Result<ExecPlugin::Credential> ExecPlugin::current(double wait_s) {
  const double until_s = clock_.steady_s() + wait_s;
  MutexLock lock(mutex_);
  if (usable()) {
    const bool old = expires_s_ != 0 && clock_.wall_s() >= expires_s_ - kBefore_s;
    if (old && clock_.steady_s() - began_s_ >= kBetweenRuns_s) want();
    return credential_;
  }
  if (!error_.message.empty() && clock_.steady_s() - ended_s_ < kFailureHolds_s)
    return tl::unexpected(error_);
  if (const double pause_s = rest_s(); !wanted_ && pause_s > 0)
    return fail(ErrorCode::kUnavailable,
                format("the API server refuses what the credential plug-in {} says; it is run "
                       "again in {:.0f} s",
                       spec_.command, std::ceil(pause_s)));
  const std::uint64_t before = runs_;
  while (!usable()) {
    if (runs_ != before && !error_.message.empty()) return tl::unexpected(error_);
    const double left_s = std::min(until_s, hurry_until_s_) - clock_.steady_s();
    if (left_s <= 0)
      return fail(ErrorCode::kTimeout,
                  format("the credential plug-in {} has not answered yet", spec_.command));
    want();  // again, where somebody refused what it has just said
    changed_.wait_for_s(mutex_, left_s);
  }
  return credential_;
}

Result<ExecPlugin::Credential> ExecPlugin::await() {
  return current((talks() ? spec_.terminal_time_s : spec_.time_s) + kToEnd_s);
}

void ExecPlugin::refuse(std::uint64_t serial) {
  MutexLock lock(mutex_);
  if (credential_.serial != serial) return;
  credential_ = {};
  const bool soon = clock_.steady_s() - ended_s_ < kBetweenRuns_s;
  refusals_ = soon ? refusals_ + 1 : 1;
}

void ExecPlugin::hurry() {
  {
    MutexLock lock(mutex_);
    hurry_until_s_ = clock_.steady_s() + kLastWait_s;
  }
  changed_.notify_all();
}

void ExecPlugin::run_when_wanted() {
  sigset_t all;  // are for the threads that know what to do
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  for (;;) {
    {
      MutexLock lock(mutex_);
      while (!wanted_ && !stopping_)
        changed_.wait(mutex_);
      if (stopping_) return;
    }
    auto made = run();
    MutexLock lock(mutex_);
    wanted_ = false;
    ++runs_;
    ended_s_ = clock_.steady_s();
    if (made) {
      credential_ = {std::move(made->token), std::move(made->certificate), std::move(made->key),
                     runs_};
      expires_s_ = made->expires_s;
      error_ = {};
    } else {
      error_ = made.error();
    }
    changed_.notify_all();
  }
}

bool ExecPlugin::talks() const {
  return spec_.input != ExecInput::kNever && at_terminal();
}

Result<wire::ExecCredential> ExecPlugin::run() const {
  const auto failed = [this](const Error& error) {
    const std::string hint = spec_.install_hint.empty() ? "" : "\n" + spec_.install_hint;
    return fail(error.code, format("the kubeconfig's credential plug-in {}: {}{}", spec_.command,
                                   error.message, error.code == ErrorCode::kNotFound ? hint : ""));
  };
  const bool interactive = talks();
  if (spec_.input == ExecInput::kAlways && !interactive)
    return failed({ErrorCode::kUnavailable,
                   "it needs a terminal (interactiveMode: Always), and stdin is not a terminal"});
  ChildCommand command;
  command.program = spec_.command;
  command.arguments = spec_.arguments;
  for (char** each = environ; *each != nullptr; ++each)
    command.environment.emplace_back(*each);
  for (const auto& [name, value] : spec_.environment)
    set(command.environment, name, value);
  set(command.environment, kInfo, interactive ? spec_.info_at_terminal : spec_.info);
  command.interactive = interactive;
  command.time_s = interactive ? spec_.terminal_time_s : spec_.time_s;
  command.max_output = kMaxOutput;
  const auto printed = run_child(command, [this] { return stopping(); });
  if (!printed) return failed(printed.error());
  auto credential = wire::decode_exec_credential(*printed, spec_.api_version);
  if (!credential) return failed(credential.error());
  if (credential->expires_s != 0 && credential->expires_s <= clock_.wall_s())
    return failed({ErrorCode::kUnavailable, "it gave a credential that has expired already"});
  return credential;
}

std::shared_ptr<ExecPlugin> shared_plugin(const ExecSpec& spec) {
  static Mutex mutex;
  static std::vector<std::pair<ExecSpec, std::weak_ptr<ExecPlugin>>> known;
  MutexLock lock(mutex);
  std::erase_if(known, [](const auto& each) { return each.second.expired(); });
  for (const auto& [other, plugin] : known)
    if (other == spec)
      if (auto alive = plugin.lock()) return alive;
  auto made = std::make_shared<ExecPlugin>(spec, system_clock());
  known.emplace_back(spec, made);
  return made;
}

}  // namespace slackline::cluster
