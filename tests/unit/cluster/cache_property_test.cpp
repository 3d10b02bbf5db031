// Whatever happens on the way (duplicates, kinds overtaking each other, relists, given-up relists),
// once all is delivered the cache says exactly what the server says, and no published snapshot ever
// changes.
#include <algorithm>
#include <deque>
#include <map>
#include <random>

#include <gtest/gtest.h>

#include "cluster/watch/cache.h"
#include "slackline/base/text.h"
#include "support/cluster_builder.h"
#include "support/fake_clock.h"

namespace slackline::cluster {
namespace {

using test::a_job;
using test::a_node;
using test::a_pod;
using wire::KubeKind;
using wire::KubeObject;

std::string describe(const ClusterSnapshot& snapshot) {
  std::string text;
  for (std::size_t i = 0; i < snapshot.nodes.size(); ++i) {
    const NodeState& state = *snapshot.nodes[i];
    EXPECT_EQ(snapshot.find_node(state.node->name.str()), static_cast<NodeIndex>(i));
    text += format("node {} {} free {}:", state.node->name.str(), state.node->uid.str(),
                   state.free().gpu_total());
    for (const PodPtr& pod : state.pods)
      text += " " + pod->uid.str();
    text += "\n";
  }
  for (const PodPtr& pod : snapshot.unbound)
    text += "unbound " + pod->uid.str() + "\n";
  for (const JobPtr& job : snapshot.jobs)
    text += format("job {} {}\n", job->key.str(), job->suspended);
  std::map<std::string, std::uint64_t> sighted;
  if (snapshot.sightings)
    for (const auto& [uid, sighting] : *snapshot.sightings)
      sighted[uid.str()] = sighting.value_hash;
  for (const auto& [uid, hash] : sighted)
    text += format("sighted {} {}\n", uid, hash);
  return text;
}

// The truth, and the streams of events that lead to it, one per kind.
class Server {
 public:
  explicit Server(unsigned seed) : random_(seed) {}

  void act() {
    switch (pick(9)) {
      case 0:
        return set(node("gpu-" + std::to_string(pick(6))));
      case 1:
        return drop("gpu-" + std::to_string(pick(6)), nodes_, KubeKind::kNode);
      case 2:
        return set(pod(pod_name(), "", PodPhase::kPending));
      case 3:
        return drop(pod_name(), pods_, KubeKind::kPod);
      case 4:
      case 5:
        return bind(pod_name());
      case 6:
        return finish(pod_name());
      case 7:
        return set(job("job-" + std::to_string(pick(4))));
      default:
        return drop("job-" + std::to_string(pick(4)), jobs_, KubeKind::kJob);
    }
  }

  // Delivers the next event of a kind, sometimes twice.
  bool deliver_one(Cache& cache, KubeKind kind) {
    auto& stream = streams_[index_of(kind)];
    if (stream.empty()) return false;
    const Event event = stream.front();
    stream.pop_front();
    for (int times = pick(5) == 0 ? 2 : 1; times > 0; --times) {
      if (event.deleted) {
        cache.remove(event.object);
      } else {
        cache.upsert(event.object);
      }
    }
    return true;
  }

  // What a relist brings: the truth of now, in any order; events up to now are then history.
  void relist(Cache& cache, KubeKind kind, bool give_up) {
    std::vector<KubeObject> found;
    const auto add = [&](const auto& objects) {
      for (const auto& [name, object] : objects)
        found.push_back(object);
    };
    if (kind == KubeKind::kNode) add(nodes_);
    if (kind == KubeKind::kPod) add(pods_);
    if (kind == KubeKind::kJob) add(jobs_);
    std::shuffle(found.begin(), found.end(), random_);
    cache.begin_relist(kind);
    if (give_up) {
      found.resize(found.size() / 2);
      for (KubeObject& object : found)
        cache.upsert(object);
      return relist(cache, kind, false);
    }
    for (KubeObject& object : found)
      cache.upsert(object);
    cache.finish_relist(kind);
    streams_[index_of(kind)].clear();
  }

  int pick(int bound) { return std::uniform_int_distribution<int>(0, bound - 1)(random_); }

  std::string describe() const {
    std::string text;
    for (const auto& [name, node] : nodes_) {
      std::map<Uid, const Pod*> mine;
      std::int64_t free = node.allocatable.gpu_total();
      for (const auto& [pod_name, pod] : pods_) {
        if (pod.terminal() || pod.node != node.name) continue;
        mine[pod.uid] = &pod;
        free -= pod.requests.gpu_total();
      }
      text += format("node {} {} free {}:", name, node.uid.str(), free);
      for (const auto& [uid, pod] : mine)
        text += " " + uid.str();
      text += "\n";
    }
    for (const auto& [name, pod] : pods_)
      if (!pod.terminal() && !pod.bound()) text += "unbound " + pod.uid.str() + "\n";
    std::map<std::string, std::uint64_t> sighted;
    for (const auto& [name, job] : jobs_) {
      text += format("job {} {}\n", job.key.str(), job.suspended);
      if (job.plan) sighted[job.uid.str()] = job.plan->value_hash;
    }
    for (const auto& [uid, hash] : sighted)
      text += format("sighted {} {}\n", uid, hash);
    return text;
  }

 private:
  struct Event {
    KubeObject object;
    bool deleted = false;
  };

  std::string pod_name() { return "pod-" + std::to_string(pick(12)); }

  Node node(const std::string& name) {
    Node result = a_node(name).of("A100", 1 + pick(8)).build();
    result.uid = Uid(name + "#" + std::to_string(++serial_));
    return result;
  }
  Pod pod(const std::string& name, const std::string& node, PodPhase phase) {
    Pod result = a_pod(name).gpus(1 + pick(3)).phase(phase).build();
    result.node = NodeName(node);
    result.uid = Uid(name + "#" + std::to_string(++serial_));
    return result;
  }
  Job job(const std::string& name) {
    auto builder = a_job(name).of(2);
    if (pick(2) == 0) builder.suspended();
    if (pick(2) == 0) builder.planned({"gpu-1"}, "plan-" + std::to_string(pick(3)));
    return builder.build();
  }

  void set(Node object) {
    push({object, false}, KubeKind::kNode);
    nodes_.insert_or_assign(object.name.str(), object);
  }
  // A pod is created only under a free name, as the API server has it.
  void set(Pod object) {
    drop(object.key.name, pods_, KubeKind::kPod);
    push({object, false}, KubeKind::kPod);
    pods_.insert_or_assign(object.key.name, object);
  }
  void set(Job object) {
    push({object, false}, KubeKind::kJob);
    jobs_.insert_or_assign(object.key.name, object);
  }
  void bind(const std::string& name) {
    const auto at = pods_.find(name);
    if (at == pods_.end() || at->second.bound()) return;
    at->second.node = NodeName("gpu-" + std::to_string(pick(6)));
    push({at->second, false}, KubeKind::kPod);
  }
  void finish(const std::string& name) {
    const auto at = pods_.find(name);
    if (at == pods_.end()) return;
    at->second.phase = pick(2) == 0 ? PodPhase::kSucceeded : PodPhase::kFailed;
    push({at->second, false}, KubeKind::kPod);
  }
  template <class T>
  void drop(const std::string& name, std::map<std::string, T>& objects, KubeKind kind) {
    const auto at = objects.find(name);
    if (at == objects.end()) return;
    push({at->second, true}, kind);
    objects.erase(at);
  }
  void push(Event event, KubeKind kind) { streams_[index_of(kind)].push_back(std::move(event)); }

  std::mt19937 random_;
  int serial_ = 0;
  std::map<std::string, Node> nodes_;
  std::map<std::string, Pod> pods_;
  std::map<std::string, Job> jobs_;
  std::array<std::deque<Event>, kResources.size()> streams_;
};

constexpr KubeKind kKinds[] = {KubeKind::kNode, KubeKind::kPod, KubeKind::kJob};

class CacheProperty : public testing::TestWithParam<unsigned> {};

TEST_P(CacheProperty, EqualsTheServerAndNeverChangesWhatItPublished) {
  Server server(GetParam());
  test::FakeClock clock;
  Cache cache(clock, nullptr);
  for (const KubeKind kind : kKinds)
    server.relist(cache, kind, false);

  std::vector<std::pair<SnapshotPtr, std::string>> published;
  for (int step = 0; step < 600; ++step) {
    server.act();
    clock.advance(0.01);
    const KubeKind kind = kKinds[server.pick(3)];
    if (server.pick(25) == 0) server.relist(cache, kind, server.pick(2) == 0);
    for (int i = server.pick(4); i > 0; --i)
      server.deliver_one(cache, kind);
    if (server.pick(6) == 0) {
      const SnapshotPtr snapshot = cache.publish();
      published.emplace_back(snapshot, describe(*snapshot));
    }
  }
  for (const KubeKind kind : kKinds)
    while (server.deliver_one(cache, kind)) {
    }
  EXPECT_EQ(describe(*cache.publish()), server.describe());
  for (const auto& [snapshot, text] : published)
    ASSERT_EQ(describe(*snapshot), text);
}

INSTANTIATE_TEST_SUITE_P(Seeds, CacheProperty, testing::Range(1u, 61u));

}  // namespace
}  // namespace slackline::cluster
