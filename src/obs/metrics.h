// Metrics for Prometheus, with bounded series (F40): label values come from fixed vocabularies
// only, never from names of pods, users or paths.
//
// Every metric is in the list (obs/metric_list.h): another name, kind or label ends the process.
// A listed counter whose labels have known values is there from the start, with 0.
//
// Thread-safe. Instruments are cheap handles that stay valid as long as the registry.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "obs/metric_list.h"

namespace slackline::obs {

inline constexpr std::size_t kMaxSeries = 200;  // of a family, unless it says otherwise

using LabelList = std::initializer_list<std::pair<std::string_view, std::string_view>>;

class Counter {
 public:
  void add(double amount = 1.0) const;

 private:
  friend class MetricsRegistry;
  explicit Counter(void* impl) : impl_(impl) {}
  void* impl_;
};

class Gauge {
 public:
  void set(double value) const;
  void add(double amount) const;

 private:
  friend class MetricsRegistry;
  explicit Gauge(void* impl) : impl_(impl) {}
  void* impl_;
};

class Histogram {
 public:
  void observe(double value) const;

 private:
  friend class MetricsRegistry;
  explicit Histogram(void* impl) : impl_(impl) {}
  void* impl_;
};

class MetricsRegistry {
 public:
  explicit MetricsRegistry(std::span<const ListedMetric> list = listed_metrics());
  ~MetricsRegistry();
  MetricsRegistry(const MetricsRegistry&) = delete;
  MetricsRegistry& operator=(const MetricsRegistry&) = delete;

  // The same name and labels give the same instrument. A family keeps at most `max_series` series:
  // beyond that every further label set shares one series whose label values are "other".
  Counter counter(std::string_view name, LabelList labels = {},
                  std::size_t max_series = kMaxSeries);
  Gauge gauge(std::string_view name, LabelList labels = {});
  Histogram histogram(std::string_view name, const std::vector<double>& bounds,
                      LabelList labels = {}, std::size_t max_series = kMaxSeries);

  // The text exposition format, sorted by name; clean under `promtool check metrics`.
  std::string expose() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Seconds, 50 us to 5 s: for request latencies.
const std::vector<double>& latency_bounds_s();

}  // namespace slackline::obs
