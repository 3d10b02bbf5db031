// What the codecs cost: decode and encode of a filter call, and one watch event.
#include <string>

#include <benchmark/benchmark.h>

#include "contract/wire/bodies.h"
#include "support/node_names.h"
#include "wire/extender/extender_codec.h"
#include "wire/kube/kube_decode.h"

namespace slackline::wire {
namespace {

std::vector<std::string> names(std::int64_t count) {
  std::vector<std::string> all;
  for (std::int64_t i = 0; i < count; ++i)
    all.push_back("gpu-node-pool-a-eu-central-1-" + std::to_string(1'000'000 + i));
  return all;
}

std::string body_with_names(std::int64_t count) {
  std::string body = R"({"Pod":)" + pod_document() + R"(,"Nodes":null,"NodeNames":[)";
  for (const std::string& name : names(count))
    body += (body.back() == '[' ? "\"" : ",\"") + name + '"';
  return body + "]}";
}

// Where asked for, the cluster has the nodes of the request.
std::shared_ptr<const NodeNames> known_names(const benchmark::State& state) {
  return state.range(1) == 0 ? nullptr : test::node_names(names(state.range(0)));
}

void filter_by_names(benchmark::State& state) {
  const std::string body = body_with_names(state.range(0));
  const auto known = known_names(state);
  ExtenderCodec codec(default_gpu_catalog());
  FilterReply reply;
  for (auto _ : state) {
    const auto decoded = codec.decode_nodes(body, known);
    // Every tenth node fails, half of these forever.
    reply.verdicts.resize(decoded->request.node_names.size());
    for (std::size_t i = 0; i < reply.verdicts.size(); ++i)
      reply.verdicts[i] = i % 10 != 0   ? Verdict::kPass
                          : i % 20 == 0 ? Verdict::kNodeTooSmall
                                        : Verdict::kHeldForOthers;
    benchmark::DoNotOptimize(codec.encode_filter(decoded->request, reply));
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(body.size()));
}
BENCHMARK(filter_by_names)
    ->ArgNames({"names", "known"})
    ->ArgsProduct({{1, 500, 781, 5000}, {0, 1}})
    ->Unit(benchmark::kMicrosecond);

void prioritize_by_names(benchmark::State& state) {
  const std::string body = body_with_names(state.range(0));
  const auto known = known_names(state);
  ExtenderCodec codec(default_gpu_catalog());
  PrioritizeReply reply;
  for (std::uint32_t i = 0; i < 128 && i < state.range(0); ++i)
    reply.scores.push_back({i, 8});
  for (auto _ : state) {
    const auto decoded = codec.decode_nodes(body, known);
    benchmark::DoNotOptimize(codec.encode_prioritize(decoded->request, reply));
  }
}
BENCHMARK(prioritize_by_names)
    ->ArgNames({"names", "known"})
    ->ArgsProduct({{500, 5000}, {0, 1}})
    ->Unit(benchmark::kMicrosecond);

void filter_by_objects(benchmark::State& state) {
  std::string body = R"({"Pod":)" + pod_document() + R"(,"Nodes":{"items":[)";
  for (std::int64_t i = 0; i < state.range(0); ++i)
    body += (i == 0 ? "" : ",") + node_document("gpu-node-" + std::to_string(1'000'000 + i));
  body += R"(]},"NodeNames":null})";
  ExtenderCodec codec(default_gpu_catalog());
  FilterReply reply;
  for (auto _ : state) {
    const auto decoded = codec.decode_nodes(body);
    reply.verdicts.assign(decoded->request.node_names.size(), Verdict::kPass);
    benchmark::DoNotOptimize(codec.encode_filter(decoded->request, reply));
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(body.size()));
}
BENCHMARK(filter_by_objects)->Arg(500)->Unit(benchmark::kMillisecond);

void watch_event(benchmark::State& state) {
  const std::string line = R"({"type":"MODIFIED","object":)" + pod_document() + "}";
  KubeDecoder decoder(default_gpu_catalog());
  for (auto _ : state)
    benchmark::DoNotOptimize(decoder.watch_frame(KubeKind::kPod, line));
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(line.size()));
}
BENCHMARK(watch_event)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace slackline::wire
