#include "obs/metrics.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <new>

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include "slackline/base/mutex.h"

namespace slackline::obs {
namespace {

// Two instruments of different kinds under one name, or a name that Prometheus does not allow: a
// bug that no running daemon can repair.
[[noreturn]] void die(std::string_view name, const char* why) {
  std::fprintf(stderr, "metric %.*s: %s\n", static_cast<int>(name.size()), name.data(), why);
  std::abort();
}

// All series of one name. `Metric` is prometheus-cpp's Counter, Gauge or Histogram.
template <class Metric>
class SeriesSet {
 public:
  bool is_registered() const { return family_ != nullptr; }
  void set_family(prometheus::Family<Metric>& family) { family_ = &family; }

  template <class... Args>
  Metric* get(std::size_t max_series, prometheus::Labels labels, const Args&... args) {
    if (const auto found = series_.find(labels); found != series_.end()) return found->second;
    if (series_.size() + 1 >= max_series) {
      for (auto& [key, value] : labels)
        value = "other";
      if (const auto found = series_.find(labels); found != series_.end()) return found->second;
    }
    Metric* metric = &family_->Add(labels, args...);
    series_.emplace(std::move(labels), metric);
    return metric;
  }

 private:
  prometheus::Family<Metric>* family_ = nullptr;
  std::map<prometheus::Labels, Metric*> series_;
};

template <class Metric>
using Families = std::map<std::string, SeriesSet<Metric>, std::less<>>;

prometheus::Labels to_labels(LabelList labels) {
  prometheus::Labels out;
  for (const auto& [key, value] : labels)
    out.emplace(key, value);
  return out;
}

}  // namespace

struct MetricsRegistry::Impl {
  Mutex mutex;
  prometheus::Registry registry{prometheus::Registry::InsertBehavior::Throw};
  Families<prometheus::Counter> counters SLACKLINE_GUARDED_BY(mutex);
  Families<prometheus::Gauge> gauges SLACKLINE_GUARDED_BY(mutex);
  Families<prometheus::Histogram> histograms SLACKLINE_GUARDED_BY(mutex);

  template <class Metric, class Builder, class... Args>
  void* get(Families<Metric>& families, Builder builder, std::string_view name,
            std::string_view help, std::size_t max_series, LabelList labels, const Args&... args) {
    try {
      auto found = families.find(name);
      if (found == families.end()) found = families.try_emplace(std::string(name)).first;
      SeriesSet<Metric>& series = found->second;
      if (!series.is_registered())
        series.set_family(
            builder.Name(std::string(name)).Help(std::string(help)).Register(registry));
      return series.get(max_series, to_labels(labels), args...);
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception& error) {
      die(name, error.what());
    }
  }
};

void Counter::add(double amount) const {
  static_cast<prometheus::Counter*>(impl_)->Increment(amount);
}

void Gauge::set(double value) const {
  static_cast<prometheus::Gauge*>(impl_)->Set(value);
}

void Gauge::add(double amount) const {
  static_cast<prometheus::Gauge*>(impl_)->Increment(amount);
}

void Histogram::observe(double value) const {
  static_cast<prometheus::Histogram*>(impl_)->Observe(value);
}

MetricsRegistry::MetricsRegistry() : impl_(std::make_unique<Impl>()) {}
MetricsRegistry::~MetricsRegistry() = default;

Counter MetricsRegistry::counter(std::string_view name, std::string_view help, LabelList labels,
                                 std::size_t max_series) {
  const MutexLock lock(impl_->mutex);
  return Counter(
      impl_->get(impl_->counters, prometheus::BuildCounter(), name, help, max_series, labels));
}

Gauge MetricsRegistry::gauge(std::string_view name, std::string_view help, LabelList labels) {
  const MutexLock lock(impl_->mutex);
  return Gauge(impl_->get(impl_->gauges, prometheus::BuildGauge(), name, help, kMaxSeries, labels));
}

Histogram MetricsRegistry::histogram(std::string_view name, std::string_view help,
                                     const std::vector<double>& bounds, LabelList labels,
                                     std::size_t max_series) {
  const MutexLock lock(impl_->mutex);
  return Histogram(impl_->get(impl_->histograms, prometheus::BuildHistogram(), name, help,
                              max_series, labels, bounds));
}

std::string MetricsRegistry::expose() const {
  std::vector<prometheus::MetricFamily> families = impl_->registry.Collect();
  std::sort(families.begin(), families.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  for (prometheus::MetricFamily& family : families)
    std::sort(family.metric.begin(), family.metric.end(),
              [](const auto& a, const auto& b) { return a.label < b.label; });
  return prometheus::TextSerializer().Serialize(families);
}

const std::vector<double>& latency_bounds_s() {
  static const std::vector<double> bounds = {0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025,
                                             0.005,   0.01,   0.025,   0.05,   0.1,   0.25,
                                             0.5,     1.0,    2.5,     5.0};
  return bounds;
}

}  // namespace slackline::obs
