#include "obs/metrics.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <new>
#include <utility>

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include "slackline/base/mutex.h"
#include "slackline/base/text.h"

namespace slackline::obs {
namespace {

constexpr const char* kOther = "other";

// A metric that is not listed as it is used: a bug that no running daemon can repair.
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

  Metric* find(const prometheus::Labels& labels) const {
    const auto found = series_.find(labels);
    return found == series_.end() ? nullptr : found->second;
  }

  template <class... Args>
  Metric* add(std::size_t max_series, prometheus::Labels labels, const Args&... args) {
    if (series_.size() + 1 >= max_series) {
      for (auto& [key, value] : labels)
        value = kOther;
    }
    if (Metric* there = find(labels)) return there;
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

struct ListedLabel {
  std::string_view name;
  std::vector<std::string_view> values;  // empty: not known beforehand
};

std::vector<ListedLabel> labels_of(const ListedMetric& metric) {
  std::vector<ListedLabel> labels;
  if (metric.labels.empty()) return labels;
  for (const std::string_view label : split(metric.labels, ',')) {
    const std::size_t at = label.find('=');
    labels.push_back({label.substr(0, at), {}});
    if (at != std::string_view::npos) labels.back().values = split(label.substr(at + 1), '|');
  }
  return labels;
}

// A value that is not known beforehand becomes "other". False: the labels are not the listed ones.
bool fit_labels(const ListedMetric& metric, prometheus::Labels& labels) {
  const std::vector<ListedLabel> listed = labels_of(metric);
  for (const ListedLabel& label : listed) {
    const auto at = labels.find(std::string(label.name));
    if (at == labels.end()) return false;
    const auto& known = label.values;
    if (!known.empty() && std::find(known.begin(), known.end(), at->second) == known.end())
      at->second = kOther;
  }
  return listed.size() == labels.size();
}

// Every series of a metric all of whose labels have known values; else none.
std::vector<prometheus::Labels> series_from_the_start(const ListedMetric& metric) {
  std::vector<prometheus::Labels> all = {{}};
  for (const ListedLabel& label : labels_of(metric)) {
    std::vector<prometheus::Labels> longer;
    for (const prometheus::Labels& before : all)
      for (const std::string_view value : label.values)
        (longer.emplace_back(before))[std::string(label.name)] = value;
    all = std::move(longer);
  }
  return all;
}

}  // namespace

struct MetricsRegistry::Impl {
  Mutex mutex;
  std::map<std::string_view, const ListedMetric*> listed;
  prometheus::Registry registry{prometheus::Registry::InsertBehavior::Throw};
  Families<prometheus::Counter> counters SLACKLINE_GUARDED_BY(mutex);
  Families<prometheus::Gauge> gauges SLACKLINE_GUARDED_BY(mutex);
  Families<prometheus::Histogram> histograms SLACKLINE_GUARDED_BY(mutex);

  template <class Metric, class Builder, class... Args>
  void* get(Families<Metric>& families, Builder builder, MetricKind kind, std::string_view name,
            std::size_t max_series, prometheus::Labels labels, const Args&... args) {
    const auto at = listed.find(name);
    if (at == listed.end()) die(name, "it is not in obs/metric_list.cpp");
    const ListedMetric& metric = *at->second;
    if (metric.kind != kind) die(name, "obs/metric_list.cpp says that it is of another kind");
    auto found = families.find(name);
    if (found == families.end()) found = families.try_emplace(std::string(name)).first;
    SeriesSet<Metric>& series = found->second;
    if (Metric* known = series.find(labels)) return known;
    if (!fit_labels(metric, labels)) die(name, "obs/metric_list.cpp has other labels");
    try {
      if (!series.is_registered())
        series.set_family(
            builder.Name(std::string(name)).Help(std::string(metric.help)).Register(registry));
      return series.add(max_series, std::move(labels), args...);
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

MetricsRegistry::MetricsRegistry(std::span<const ListedMetric> list)
    : impl_(std::make_unique<Impl>()) {
  const MutexLock lock(impl_->mutex);
  for (const ListedMetric& metric : list) {
    impl_->listed.emplace(metric.name, &metric);
    if (metric.kind != MetricKind::kCounter) continue;
    for (prometheus::Labels& labels : series_from_the_start(metric))
      impl_->get(impl_->counters, prometheus::BuildCounter(), MetricKind::kCounter, metric.name,
                 kMaxSeries, std::move(labels));
  }
}

MetricsRegistry::~MetricsRegistry() = default;

Counter MetricsRegistry::counter(std::string_view name, LabelList labels, std::size_t max_series) {
  const MutexLock lock(impl_->mutex);
  return Counter(impl_->get(impl_->counters, prometheus::BuildCounter(), MetricKind::kCounter, name,
                            max_series, to_labels(labels)));
}

Gauge MetricsRegistry::gauge(std::string_view name, LabelList labels) {
  const MutexLock lock(impl_->mutex);
  return Gauge(impl_->get(impl_->gauges, prometheus::BuildGauge(), MetricKind::kGauge, name,
                          kMaxSeries, to_labels(labels)));
}

Histogram MetricsRegistry::histogram(std::string_view name, const std::vector<double>& bounds,
                                     LabelList labels, std::size_t max_series) {
  const MutexLock lock(impl_->mutex);
  return Histogram(impl_->get(impl_->histograms, prometheus::BuildHistogram(),
                              MetricKind::kHistogram, name, max_series, to_labels(labels), bounds));
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
