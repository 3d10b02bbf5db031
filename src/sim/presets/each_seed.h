// The same for every seed, on as many threads as the machine has cores.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

namespace slackline::sim {

// `result` of each seed, in the order of the seeds. It is called from several threads at once and
// must not throw.
template <class Function>
auto each_seed(const std::vector<std::uint64_t>& seeds, const Function& result) {
  std::vector<decltype(result(seeds.front()))> results(seeds.size());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < seeds.size(); i = next++)
      results[i] = result(seeds[i]);
  };
  const std::size_t threads = std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, 16);
  std::vector<std::jthread> others;
  for (std::size_t i = 1; i < std::min(threads, seeds.size()); ++i)
    others.emplace_back(work);
  work();
  others.clear();
  return results;
}

}  // namespace slackline::sim
