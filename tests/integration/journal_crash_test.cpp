// F30: a process that writes the journal is killed with SIGKILL again and again; what it had
// flushed must be there, once, and the file whole.
#include <chrono>
#include <csignal>
#include <random>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/journal.h"
#include "support/decisions.h"
#include "support/temporary_folder.h"

namespace slackline::store {
namespace {

constexpr int kRounds = 20;

// Appends rows numbered from `first` on and reports the last number after every flush; never
// returns.
[[noreturn]] void write_for_ever(const JournalOptions& options, int first, int report) {
  auto journal = Journal::open(options);
  if (!journal) ::_exit(1);
  for (int number = first;; ++number) {
    DecisionRow row = test::decision(number);
    row.nodes_asked = static_cast<std::uint32_t>(number);
    if (!(*journal)->append(std::move(row))) ::_exit(2);
    if (number % 37 != 0) continue;
    if (!(*journal)->flush(30)) ::_exit(3);
    if (::write(report, &number, sizeof number) != sizeof number) ::_exit(4);
  }
}

struct Child {
  pid_t pid = 0;
  int reports = -1;
};

Child start_writer(const JournalOptions& options, int first) {
  int ends[2];
  if (::pipe(ends) != 0) return {};
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::close(ends[0]);
    write_for_ever(options, first, ends[1]);
  }
  ::close(ends[1]);
  return {pid, ends[0]};
}

std::vector<int> numbers_in(const Journal& journal) {
  std::vector<int> numbers;
  JournalQuery query{.limit = 1000};
  do {
    Result<JournalPage> page = journal.query(query);
    if (!page) {
      ADD_FAILURE() << page.error().message;
      return numbers;
    }
    for (const DecisionRow& row : page->rows)
      numbers.push_back(static_cast<int>(row.nodes_asked));
    query.before_id = page->next_before_id;
  } while (query.before_id != 0);
  return {numbers.rbegin(), numbers.rend()};
}

TEST(JournalCrash, WhatWasFlushedSurvivesKillDashNine) {
  test::TemporaryFolder folder;
  const JournalOptions options{.path = folder.file("journal.db"), .busy_timeout_s = 1};
  std::mt19937 random(20240229);
  std::uniform_int_distribution<int> delay_us(0, 40000);
  int next = 1;
  for (int round = 0; round < kRounds; ++round) {
    SCOPED_TRACE(round);
    const Child child = start_writer(options, next);
    ASSERT_GT(child.pid, 0);
    int flushed = 0;
    ASSERT_EQ(::read(child.reports, &flushed, sizeof flushed), static_cast<int>(sizeof flushed));
    std::this_thread::sleep_for(std::chrono::microseconds(delay_us(random)));
    ::kill(child.pid, SIGKILL);
    int status = 0;
    ::waitpid(child.pid, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the writer ended by itself: " << WEXITSTATUS(status);
    while (::read(child.reports, &flushed, sizeof flushed) == static_cast<int>(sizeof flushed)) {
    }
    ::close(child.reports);

    Result<std::unique_ptr<Journal>> journal = Journal::open(options);  // runs quick_check
    ASSERT_TRUE(journal) << journal.error().message;
    ASSERT_EQ((*journal)->stats().recovered_from, "") << "the file was damaged";
    const std::vector<int> numbers = numbers_in(**journal);
    ASSERT_GE(numbers.size(), static_cast<std::size_t>(flushed)) << "a flushed row is lost";
    for (std::size_t i = 0; i < numbers.size(); ++i)
      ASSERT_EQ(numbers[i], static_cast<int>(i) + 1) << "a row is missing, double or out of order";
    next = static_cast<int>(numbers.size()) + 1;
  }
  RecordProperty("rows", std::to_string(next - 1));
}

}  // namespace
}  // namespace slackline::store
