// F30: a process that writes the journal is killed with SIGKILL again and again; what it had
// flushed must be there, once, and the file whole.
#include <vector>

#include "store/journal.h"
#include "support/decisions.h"
#include "support/killed_writer.h"
#include "support/temporary_folder.h"

namespace slackline::store {
namespace {

constexpr int kRounds = 20;

// Appends rows numbered from `first` on and reports the last number after every flush.
void write_for_ever(const JournalOptions& options, int first,
                    const test::Acknowledge& acknowledge) {
  auto journal = Journal::open(options);
  if (!journal) return;
  for (int number = first;; ++number) {
    DecisionRow row = test::decision(number);
    row.nodes_asked = static_cast<std::uint32_t>(number);
    if (!(*journal)->append(std::move(row))) return;
    if (number % 37 != 0) continue;
    if (!(*journal)->flush(30)) return;
    acknowledge(number);
  }
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
  int next = 1;
  for (int round = 0; round < kRounds; ++round) {
    SCOPED_TRACE(round);
    const int flushed = test::kill_while_writing(
        [&](const test::Acknowledge& done) { write_for_ever(options, next, done); }, random);
    ASSERT_GT(flushed, 0);

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
