#include "cluster/watch/gang_reader.h"

#include <memory>
#include <utility>

#include "obs/log.h"

namespace slackline::cluster {
namespace {

constexpr double kLook_s = 0.25;  // well within the two seconds that a gang waits for more pods
constexpr double kReadAgain_s = 10;
constexpr std::size_t kMostAgain = 3;  // 12 a second
constexpr int kMostOwners = 3;         // above the object itself

// A clock of its owner ends it too.
void take_clocks(const GangSpec& of_owner, GangSpec& spec) {
  const auto take_first = [](const std::optional<double>& of_owner_s, std::optional<double>& own) {
    if (of_owner_s && (!own || *of_owner_s < *own)) own = of_owner_s;
  };
  take_first(of_owner.ends_s, spec.ends_s);
  take_first(of_owner.starts_by_s, spec.starts_by_s);
}

}  // namespace

GangReader::GangReader(ApiClient& client, Cache& cache, const GpuCatalog& catalog,
                       const Clock& clock)
    : client_(client), cache_(cache), clock_(clock), decoder_(catalog) {}

void GangReader::start() {
  worker_.start([this] {
    while (worker_.wait(kLook_s))
      look();
  });
}

void GangReader::look() {
  const auto waiting = waiting_of(*cache_.snapshot());
  bool changed =
      std::erase_if(known_, [&](const auto& known) { return !waiting.contains(known.first); }) > 0;
  for (const Uid& uid : to_read(waiting)) {
    if (worker_.is_stopping()) return;
    const Known known{read(waiting.at(uid)), clock_.steady_s()};
    const auto [at, first] = known_.try_emplace(uid, known);
    changed |= first || at->second.spec != known.spec;
    at->second = known;
  }
  if (changed) publish();
}

std::map<Uid, GangReader::Waiting> GangReader::waiting_of(const ClusterSnapshot& snapshot) {
  std::map<Uid, Waiting> waiting;
  const auto add = [&](const std::string& ns, const OwnerGang& gang) {
    if (!gang.uid.empty())
      waiting.try_emplace(gang.uid,
                          Waiting{ns, {gang.api_version, gang.kind, gang.name, gang.uid}});
  };
  for (const PodPtr& pod : snapshot.unbound) {
    if (!pod->requests.wants_gpus()) continue;
    const Job* job = pod->owner_gang ? nullptr : owning_job(snapshot, *pod);
    if (pod->owner_gang)
      add(pod->key.ns, *pod->owner_gang);
    else if (job != nullptr && job->owner_gang)
      add(pod->key.ns, *job->owner_gang);
  }
  return waiting;
}

std::set<Uid> GangReader::to_read(const std::map<Uid, Waiting>& waiting) const {
  std::set<Uid> wanted;
  std::size_t again = 0;
  const double now_s = clock_.steady_s();
  for (const auto& [uid, gang] : waiting) {
    const auto known = known_.find(uid);
    const bool due = known != known_.end() && now_s >= known->second.read_s + kReadAgain_s;
    if (known == known_.end() || (due && again++ < kMostAgain)) wanted.insert(uid);
  }
  return wanted;
}

GangSpec GangReader::read(const Waiting& gang) {
  auto object = read_one(gang.ns, gang.ref);
  if (!object) return {};
  GangSpec spec = object->spec;
  for (int level = 0; level < kMostOwners && object && object->owner; ++level) {
    object = read_one(gang.ns, *object->owner);
    if (object) take_clocks(object->spec, spec);
  }
  return spec;
}

std::optional<wire::GangObject> GangReader::read_one(const std::string& ns,
                                                     const wire::GangObjectRef& ref) {
  const auto path = wire::gang_object_path(ref, ns);
  if (!path) return std::nullopt;
  const auto text = client_.find(*path);
  if (!text) {
    note_unreadable(ref.kind, text.error());
    return std::nullopt;
  }
  if (!*text) return std::nullopt;
  auto object = wire::read_gang_object(**text, decoder_);
  if (!object || object->uid != ref.uid) return std::nullopt;
  unreadable_.erase(ref.kind);
  return *std::move(object);
}

void GangReader::note_unreadable(const std::string& kind, const Error& error) {
  if (unreadable_.insert(kind).second)
    obs::log_warning("gang_object_unreadable",
                     {{"kind", kind},
                      {"error", error.message},
                      {"meanwhile", "such a gang is whole once no pod has come for two seconds"}});
}

void GangReader::publish() {
  auto specs = std::make_shared<GangSpecs>();
  for (const auto& [uid, known] : known_)
    if (known.spec != GangSpec{}) specs->emplace(uid, known.spec);
  cache_.set_gang_specs(std::move(specs));
}

}  // namespace slackline::cluster
