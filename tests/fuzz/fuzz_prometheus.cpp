// Answers of a Prometheus. What is taken is finite and in order.
#include <cmath>

#include "fuzz/fuzz.h"
#include "wire/telemetry/prometheus_codec.h"

using namespace slackline;
using namespace slackline::fuzz;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = text_of(data, size);
  if (const auto answer = wire::decode_query_answer(text)) {
    for (const wire::Series& series : answer->series) {
      require(series.labels.size() <= wire::kMostLabels, "labels are few");
      double last_s = 0;
      for (const wire::SeriesPoint& point : series.points) {
        require(std::isfinite(point.value), "a value is a number");
        require(point.time_s >= last_s, "points are in order of time");
        last_s = point.time_s;
      }
    }
  } else {
    require(!answer.error().message.empty(), "a refusal says why");
  }
  wire::decode_query_error(text);
  return 0;
}
