// A dump of a cluster from any bytes: what people and tenants write is chosen by them, out of good
// numbers and absurd ones. Bytes that are spent read as 0.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "slackline/base/text.h"

namespace slackline::fuzz {

class RandomDump {
 public:
  RandomDump(const std::uint8_t* data, std::size_t size) : data_(data), left_(size) {}

  std::string json() {
    std::string items;
    while (left_ > 0) {
      if (!items.empty()) items += ',';
      switch (below(4)) {
        case 0:
          items += node();
          break;
        case 1:
          items += job();
          break;
        default:
          items += pod();
      }
    }
    return R"({"kind":"List","items":[)" + items + "]}";
  }

 private:
  std::uint8_t byte() {
    if (left_ == 0) return 0;
    --left_;
    return *data_++;
  }
  std::uint8_t below(std::uint8_t end) { return static_cast<std::uint8_t>(byte() % end); }
  bool coin() { return byte() % 2 == 1; }

  std::string_view quantity() {
    static constexpr std::array<std::string_view, 20> kQuantities = {"8",
                                                                     "4",
                                                                     "1",
                                                                     "2",
                                                                     "0",
                                                                     "16",
                                                                     "4.5",
                                                                     "3",
                                                                     "4096",
                                                                     "4097",
                                                                     "1e6",
                                                                     "0.5Gi",
                                                                     "2147483647",
                                                                     "3G",
                                                                     "4G",
                                                                     "1Pi",
                                                                     "4294967304",
                                                                     "4294967295",
                                                                     "1099511627776",
                                                                     "1125899906842624"};
    return kQuantities[below(kQuantities.size())];
  }
  std::string_view count() {
    static constexpr std::array<std::string_view, 14> kCounts = {
        "1",          "2",
        "3",          "4",
        "8",          "0",
        "64",         "100000",
        "100000000",  "2147483647",
        "4294967296", "4294967304",
        "-1",         "9223372036854775807"};
    return kCounts[below(kCounts.size())];
  }
  std::string name(std::string_view kind) { return format("{}{}", kind, below(16)); }
  std::string nodes() {
    std::string list;
    for (std::uint8_t left = below(5); left > 0; --left)
      list += format(R"({}\"n{}\")", list.empty() ? "" : ",", below(16));
    return list;
  }

  std::string node() {
    return format(
        R"({{"kind":"Node","metadata":{{"name":"{}","labels":{{"slackline.dev/gpu-type":"{}"}}}},)"
        R"("status":{{"allocatable":{{"cpu":"{}","memory":"{}","pods":"110","nvidia.com/gpu":"{}"}}}}}})",
        name("n"), coin() ? "A100" : "T4", quantity(), quantity(), quantity());
  }

  // The annotations of a managed task.
  std::string desired() {
    std::string text = R"("slackline.dev/x":"")";
    const auto add = [&](std::string_view key, std::string_view value) {
      text += format(R"(,"slackline.dev/{}":"{}")", key, value);
    };
    if (coin()) add("model", "bert");
    if (coin()) add("batch-size", count());
    if (coin()) add("iterations", count());
    if (coin()) add("expected-duration", coin() ? "10m" : "1000000h");
    if (coin()) add("placements", coin() ? "auto" : "1x4,65536x4096,2x2");
    if (coin()) add("gpu-types", coin() ? "A100,T4" : "any");
    if (coin()) add("gang-size", count());
    if (coin()) add("deadline-after", coin() ? "1s" : "48h");
    if (coin()) add("qos-class", coin() ? "urgent" : "prior");
    if (coin())
      add("plan", format(R"({{\"id\":\"{}\",\"epoch\":{},\"shape\":\"{}x{}\",\"nodes\":[{}]}})",
                         name("p"), count(), count(), count(), nodes()));
    if (coin()) add("suspended-by", "slackline");
    if (coin()) add("original", format(R"({{\"parallelism\":{},\"gpus\":{}}})", count(), count()));
    return text;
  }

  std::string container() {
    return format(
        R"("containers":[{{"name":"c","resources":{{"limits":{{"nvidia.com/gpu":"{}","cpu":"{}"}}}}}}])",
        quantity(), quantity());
  }

  std::string job() {
    const std::string own = name("j");
    const bool suspended = coin();
    const std::string_view pods = count();
    return format(
        R"({{"kind":"Job","metadata":{{"name":"{}","namespace":"d","uid":"{}","annotations":{{{}}}}},)"
        R"("spec":{{"suspend":{},"completionMode":"{}","parallelism":{},"completions":{},)"
        R"("template":{{"metadata":{{"labels":{{"slackline.dev/managed":"true"}}}},"spec":{{{}}}}}}},)"
        R"("status":{{"succeeded":{},"active":{},)"
        R"("conditions":[{{"type":"Suspended","status":"{}"}}]}}}})",
        own, own, desired(), suspended, coin() ? "Indexed" : "NonIndexed", pods,
        coin() ? pods : count(), container(), coin() ? "0" : count(), coin() ? "0" : count(),
        suspended ? "True" : "False");
  }

  std::string pod() {
    const std::string own = format("{}-{}", name("q"), below(64));
    std::string labels = R"("slackline.dev/managed":"true")";
    if (coin()) labels += format(R"(,"slackline.dev/gang":"{}")", name("g"));
    std::string owner;
    if (coin())
      owner = format(
          R"("ownerReferences":[{{"controller":true,"kind":"Job","name":"j{0}","uid":"j{0}"}}],)",
          below(16));
    const bool bound = coin();
    return format(
        R"({{"kind":"Pod","metadata":{{"name":"{}","namespace":"d","uid":"{}",{}"labels":{{{}}},)"
        R"("annotations":{{{}}}}},"spec":{{{}{}"priority":{},{}}},"status":{{{}}}}})",
        own, own, owner, labels, desired(), bound ? format(R"("nodeName":"{}",)", name("n")) : "",
        coin() ? R"("schedulingGates":[{"name":"slackline.dev/queue"}],)" : "", below(8),
        container(), coin() ? format(R"("nominatedNodeName":"{}")", name("n")) : "");
  }

  const std::uint8_t* data_;
  std::size_t left_;
};

}  // namespace slackline::fuzz
