#include "cluster/watch/kube_source.h"

#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "cluster/api/api_client.h"
#include "cluster/watch/cache.h"
#include "cluster/watch/cache_metrics.h"
#include "cluster/watch/drift_audit.h"
#include "cluster/watch/gang_reader.h"
#include "cluster/watch/publisher.h"
#include "cluster/watch/reflector.h"
#include "cluster/watch/stream_board.h"
#include "obs/log.h"

namespace slackline::cluster {
namespace {

class KubeSource final : public ClusterSource {
 public:
  KubeSource(ApiClient& client, const KubeOptions& options, const GpuCatalog& catalog,
             obs::MetricsRegistry& metrics, ClusterObserver* observer, const Clock& clock)
      : cache_(clock, observer, options.mac, options.keys_count_everywhere, options.schedulers),
        believes_all_(options.mac == nullptr),
        board_(clock, options.stale_after_s, believes_all_),
        metrics_(metrics),
        publisher_(cache_, [this] { metrics_.update(cache_, board_.health(true).age_s); }),
        audit_(client, cache_, metrics, options, catalog,
               [this](wire::KubeKind kind) { reflectors_[index_of(kind)]->relist(); }),
        gangs_(client, cache_, catalog, clock),
        reads_gangs_(options.reads_gangs) {
    std::uint64_t seed = options.seed != 0 ? options.seed : std::random_device{}();
    for (const ResourceSpec& resource : kResources)
      reflectors_.push_back(std::make_unique<Reflector>(
          resource, Reflector::Parts{client, cache_, board_, metrics, clock}, options, catalog,
          seed++));
  }

  ~KubeSource() override {
    KubeSource::stop();
    KubeSource::join();
  }

  Status start() override {
    publisher_.start();
    for (const ResourceSpec& resource : kResources)
      if (is_asked_for(resource.kind, believes_all_)) reflectors_[index_of(resource.kind)]->start();
    audit_.start();
    if (reads_gangs_) gangs_.start();
    return {};
  }

  void stop() override {
    gangs_.stop();
    audit_.stop();
    for (const auto& reflector : reflectors_)
      reflector->stop();
    publisher_.stop();
  }

  void join() override {
    gangs_.join();
    audit_.join();
    for (const auto& reflector : reflectors_)
      reflector->join();
    publisher_.join();
  }

  void on_publish(std::function<void()> callback) override {
    publisher_.on_publish(std::move(callback));
  }
  SnapshotPtr snapshot() const override { return cache_.snapshot(); }
  std::optional<ListTimes> pods_listed() const override {
    return reflectors_[index_of(wire::KubeKind::kPod)]->listed();
  }
  void list_pods_again() override { reflectors_[index_of(wire::KubeKind::kPod)]->relist(); }
  void keys_changed() override { cache_.judge_anew(); }
  // Ready means that queries are answered from it: being listed is not being published.
  CacheHealth health() const override { return board_.health(cache_.snapshot()->synced); }

 private:
  Cache cache_;
  const bool believes_all_;
  StreamBoard board_;
  const CacheMetrics metrics_;
  Publisher publisher_;
  std::vector<std::unique_ptr<Reflector>> reflectors_;  // in the order of kResources
  DriftAudit audit_;
  GangReader gangs_;
  const bool reads_gangs_;
};

}  // namespace

std::unique_ptr<ClusterSource> make_kube_source(ApiClient& client, const KubeOptions& options,
                                                const GpuCatalog& catalog,
                                                obs::MetricsRegistry& metrics,
                                                ClusterObserver* observer, const Clock& clock) {
  for (const std::string& warning : client.endpoint().warnings)
    obs::log_warning("kubeconfig", {{"warning", warning}});
  obs::log_info("cluster", {{"server", client.endpoint().server}});
  return std::make_unique<KubeSource>(client, options, catalog, metrics, observer, clock);
}

}  // namespace slackline::cluster
