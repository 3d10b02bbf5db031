// A process that writes numbered things forever and is killed with SIGKILL at a random moment.
#pragma once

#include <chrono>
#include <csignal>
#include <functional>
#include <random>
#include <thread>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace slackline::test {

// Tells the parent that everything up to `number` is acknowledged.
using Acknowledge = std::function<void(int number)>;

// Runs `write_for_ever` in a child and kills it some time after its first acknowledgement; returns
// the last number acknowledged, 0 where the child ended by itself (a failure is added).
inline int kill_while_writing(const std::function<void(const Acknowledge&)>& write_for_ever,
                              std::mt19937& random) {
  int ends[2];
  if (::pipe(ends) != 0) return 0;
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::close(ends[0]);
    write_for_ever([report = ends[1]](int number) {
      if (::write(report, &number, sizeof number) != sizeof number) ::_exit(4);
    });
    ::_exit(1);
  }
  ::close(ends[1]);
  std::uniform_int_distribution<int> delay_us(0, 40000);
  int acknowledged = 0;
  const auto report_came = [&] {
    return ::read(ends[0], &acknowledged, sizeof acknowledged) ==
           static_cast<int>(sizeof acknowledged);
  };
  if (report_came()) std::this_thread::sleep_for(std::chrono::microseconds(delay_us(random)));
  ::kill(pid, SIGKILL);
  int status = 0;
  ::waitpid(pid, &status, 0);
  if (!WIFSIGNALED(status)) {
    ADD_FAILURE() << "the writer ended by itself: " << WEXITSTATUS(status);
    acknowledged = 0;
  }
  while (report_came()) {
  }
  ::close(ends[0]);
  return acknowledged;
}

}  // namespace slackline::test
