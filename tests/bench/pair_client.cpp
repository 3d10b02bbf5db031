// Times filter and prioritize of a running daemon, as kube-scheduler calls them: one after the
// other over a connection that stays.
//
//   slackline_pair_client [--tls CA.crt OWN.crt OWN.key] PORT NODES CALLS NAMES...
//
// With --tls over mutual TLS. A line for each count of names: the count, and the median and 99th
// percentile of a pair in microseconds.
#include <cstdio>
#include <string>
#include <vector>

#include "bench/load_client.h"
#include "bench/scheduler_call.h"
#include "slackline/base/text.h"

namespace {

using namespace slackline;

Status time_pairs(const bench::Target& target, int nodes, int calls, int names) {
  const std::string body = bench::scheduler_call(names, nodes);
  double p50_us = 0;
  double p99_us = 0;
  for (const char* path : {bench::kFilterPath, bench::kPrioritizePath}) {
    SLACKLINE_ASSIGN(const auto verb, bench::measure(target, path, body, calls));
    p50_us += verb.p50_us;
    p99_us += verb.p99_us;
  }
  std::printf("%d %.1f %.1f\n", names, p50_us, p99_us);
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  bench::Target target;
  std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() > 3 && words[0] == "--tls") {
    target.tls = bench::Identity{words[1], words[2], words[3]};
    words.erase(words.begin(), words.begin() + 4);
  }
  std::vector<int> numbers;
  bool readable = words.size() > 3;
  for (const std::string& word : words) {
    const auto number = parse_int(word);
    readable &= number && *number >= 1 && *number <= 1'000'000;
    if (readable) numbers.push_back(static_cast<int>(*number));
  }
  if (!readable || numbers[0] > 65535) {
    std::fprintf(stderr,
                 "usage: slackline_pair_client [--tls CA.crt OWN.crt OWN.key] PORT NODES CALLS "
                 "NAMES...\n");
    return 2;
  }
  target.port = static_cast<std::uint16_t>(numbers[0]);
  for (std::size_t i = 3; i < numbers.size(); ++i) {
    if (const auto done = time_pairs(target, numbers[1], numbers[2], numbers[i]); !done) {
      std::fprintf(stderr, "pair_client: %s\n", done.error().message.c_str());
      return 1;
    }
  }
  return 0;
}
