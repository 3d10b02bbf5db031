// A cluster source that shows a given snapshot, and a writer that fails as a test wants. Fakes
// exist only to inject faults: what works is tested against the real API server (tests/e2e).
#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "cluster/watch/source.h"

namespace slackline::test {

class FakeSource final : public cluster::ClusterSource {
 public:
  explicit FakeSource(ClusterSnapshot snapshot)
      : snapshot_(std::make_shared<const ClusterSnapshot>(std::move(snapshot))) {}
  Status start() override { return {}; }
  void stop() override {}
  void join() override {}
  SnapshotPtr snapshot() const override { return snapshot_; }
  CacheHealth health() const override { return health_; }

  void show(ClusterSnapshot snapshot) {
    snapshot_ = std::make_shared<const ClusterSnapshot>(std::move(snapshot));
  }
  void be(CacheHealth health) { health_ = std::move(health); }

 private:
  SnapshotPtr snapshot_;
  CacheHealth health_{.synced = true, .age_s = 0, .stale = false, .detail = ""};
};

class FakeWriter final : public cluster::ClusterWriter {
 public:
  std::function<Status(const cluster::BindingOrder&)> on_bind = [](const auto&) {
    return Status();
  };
  std::function<Result<PodBinding>()> on_read = [] {
    return Result<PodBinding>(fail(ErrorCode::kNotFound, "no such pod"));
  };
  std::function<Result<std::string>(const OwnWrite&)> on_write = [](const auto&) {
    return Result<std::string>("1");
  };
  std::vector<cluster::BindingOrder> orders;
  std::vector<double> timeouts_s;  // of bindings and reads

  Status bind(const cluster::BindingOrder& order, double timeout_s) override {
    orders.push_back(order);
    timeouts_s.push_back(timeout_s);
    return on_bind(order);
  }
  Result<std::string> write(const OwnWrite& write) override { return on_write(write); }
  struct NotedProgress {
    ObjectKey job;
    Uid uid;
    ProgressNote note;
  };
  std::vector<NotedProgress> noted;
  std::function<Status()> on_note = [] { return Status(); };
  Status note_progress(const ObjectKey& job, const Uid& uid, const ProgressNote& note) override {
    noted.push_back({job, uid, note});
    return on_note();
  }
  std::vector<TaskEvent> forecasts;
  Status note_forecast(const TaskEvent& event) override {
    forecasts.push_back(event);
    return on_note();
  }
  std::vector<CalibrationOrder> calibrated;
  std::function<Status(const CalibrationOrder&)> on_calibrate = [](const auto&) {
    return Status();
  };
  Status calibrate(const CalibrationOrder& order) override {
    calibrated.push_back(order);
    return on_calibrate(order);
  }
  std::function<Status(const TaskEvent&)> on_post = [](const auto&) { return Status(); };
  Status post(const TaskEvent& event) override { return on_post(event); }
  Result<PodBinding> read_pod(const ObjectKey&, double timeout_s) override {
    timeouts_s.push_back(timeout_s);
    return on_read();
  }
};

}  // namespace slackline::test
