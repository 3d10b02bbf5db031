// Metrics for Prometheus, with bounded series (F40): label values come from fixed vocabularies
// only, never from names of pods, users or paths.
//
// Thread-safe. Instruments are cheap handles that stay valid as long as the registry.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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
  MetricsRegistry();
  ~MetricsRegistry();
  MetricsRegistry(const MetricsRegistry&) = delete;
  MetricsRegistry& operator=(const MetricsRegistry&) = delete;

  // The same name and labels give the same instrument. A family keeps at most `max_series` series:
  // beyond that every further label set shares one series whose label values are "other".
  Counter counter(std::string_view name, std::string_view help, LabelList labels = {},
                  std::size_t max_series = kMaxSeries);
  Gauge gauge(std::string_view name, std::string_view help, LabelList labels = {});
  Histogram histogram(std::string_view name, std::string_view help,
                      const std::vector<double>& bounds, LabelList labels = {},
                      std::size_t max_series = kMaxSeries);

  // The text exposition format, sorted by name; clean under `promtool check metrics`.
  std::string expose() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Seconds, 50 us to 5 s: for request latencies.
const std::vector<double>& latency_bounds_s();

}  // namespace slackline::obs
