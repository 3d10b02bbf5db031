#include "cluster/api/child_process.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <optional>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "slackline/base/clock.h"
#include "slackline/base/text.h"

namespace slackline::cluster {
namespace {

constexpr int kLookMilliseconds = 50;  // how often `stop` is asked

std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (const std::string& text : texts)
    out.push_back(const_cast<char*>(text.c_str()));
  out.push_back(nullptr);
  return out;
}

// A child under way; killed, and waited for, where nobody did that before.
class Child {
 public:
  Child() = default;
  ~Child() {
    if (out_ >= 0) ::close(out_);
    if (pid_ <= 0) return;
    ::kill(grouped_ ? -pid_ : pid_, SIGKILL);
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  Status start(const ChildCommand& command);
  int out() const { return out_; }
  // How it ended; nothing while it runs.
  std::optional<int> ended() {
    int status = 0;
    if (::waitpid(pid_, &status, WNOHANG) != pid_) return std::nullopt;
    pid_ = -1;
    return status;
  }

 private:
  pid_t pid_ = -1;
  bool grouped_ = false;
  int out_ = -1;
};

Status Child::start(const ChildCommand& command) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    return fail(ErrorCode::kUnavailable, format("no pipe: {}", std::strerror(errno)));
  out_ = ends[0];
  grouped_ = !command.interactive;  // a group of its own could not read from the terminal
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, ends[1], STDOUT_FILENO);
  if (!command.interactive)
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigset_t all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes,
                           static_cast<short>(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                                              (grouped_ ? POSIX_SPAWN_SETPGROUP : 0)));
  std::vector<std::string> arguments = {command.program};
  arguments.insert(arguments.end(), command.arguments.begin(), command.arguments.end());
  const int error =
      ::posix_spawnp(&pid_, command.program.c_str(), &files, &attributes,
                     pointers_to(arguments).data(), pointers_to(command.environment).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  ::close(ends[1]);
  if (error == 0) return {};
  pid_ = -1;
  return fail(error == ENOENT ? ErrorCode::kNotFound : ErrorCode::kUnavailable,
              format("it cannot be started: {}", std::strerror(error)));
}

std::string how_it_failed(int status) {
  if (WIFSIGNALED(status)) return format("it was ended by signal {}", WTERMSIG(status));
  return format("it ended with exit code {}; its own message is on stderr", WEXITSTATUS(status));
}

}  // namespace

Result<std::string> run_child(const ChildCommand& command, const StopAsked& stop) {
  const Clock& clock = system_clock();
  const double until_s = clock.steady_s() + command.time_s;
  Child child;
  SLACKLINE_TRY(child.start(command));
  std::string output;
  std::array<char, 4096> piece{};
  for (bool open = true;;) {
    if (is_asked(stop)) return fail(ErrorCode::kUnavailable, "it was stopped");
    if (clock.steady_s() >= until_s)
      return fail(ErrorCode::kTimeout, format("it took longer than {:g} s", command.time_s));
    pollfd wait{open ? child.out() : -1, POLLIN, 0};
    if (::poll(&wait, 1, open ? kLookMilliseconds : 1) > 0) {
      const ssize_t count = ::read(child.out(), piece.data(), piece.size());
      if (count < 0 && errno != EINTR)
        return fail(ErrorCode::kUnavailable, format("its output: {}", std::strerror(errno)));
      open = count != 0;
      if (count > 0) output.append(piece.data(), static_cast<std::size_t>(count));
      if (output.size() > command.max_output)
        return fail(ErrorCode::kResourceExhausted,
                    format("it printed more than {} bytes", command.max_output));
    }
    if (open) continue;
    if (const auto status = child.ended())
      return *status == 0 ? Result<std::string>(std::move(output))
                          : fail(ErrorCode::kUnavailable, how_it_failed(*status));
  }
}

}  // namespace slackline::cluster
