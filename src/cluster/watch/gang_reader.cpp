#include "cluster/watch/gang_reader.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "obs/log.h"
#include "slackline/core/cluster/task_catalog.h"

namespace slackline::cluster {
namespace {

constexpr double kLook_s = 0.25;  // well within the two seconds that a gang waits for more pods
constexpr double kReadAgain_s = 10;
constexpr double kTryAgain_s = 1;
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
  publish();  // none was read yet: until it was, a gang waits
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
    const auto spec = read(waiting.at(uid));
    const bool is_new = !known_.contains(uid);
    Known& known = known_[uid];
    known.due_s = clock_.steady_s() + (spec ? kReadAgain_s : kTryAgain_s);
    if (!is_new) changed |= spec && known.spec != *spec;
    if (spec) known.spec = *spec;
    if (is_new) publish();  // others may take long
  }
  if (changed) publish();
}

std::map<Uid, GangReader::Waiting> GangReader::waiting_of(const ClusterSnapshot& snapshot) {
  std::map<Uid, Waiting> waiting;
  const auto add = [&](const std::string& ns, const OwnerGang& gang) {
    waiting.try_emplace(object_of(ns, gang),
                        Waiting{ns, {gang.api_version, gang.kind, object_name(gang), gang.uid}});
  };
  for (const PodPtr& pod : snapshot.unbound) {
    if (!pod->requests.wants_gpus()) continue;
    if (const auto& gang = core::owner_gang_of(*pod, owning_job(snapshot, *pod)))
      add(pod->key.ns, *gang);
  }
  return waiting;
}

std::vector<Uid> GangReader::to_read(const std::map<Uid, Waiting>& waiting) const {
  std::vector<Uid> wanted;
  std::vector<std::pair<double, Uid>> again;
  const double now_s = clock_.steady_s();
  for (const auto& [uid, gang] : waiting) {
    const auto known = known_.find(uid);
    if (known == known_.end())
      wanted.push_back(uid);
    else if (now_s >= known->second.due_s)
      again.emplace_back(known->second.due_s, uid);
  }
  std::sort(again.begin(), again.end());
  again.resize(std::min(again.size(), kMostAgain));
  for (auto& [due_s, uid] : again)
    wanted.push_back(std::move(uid));
  return wanted;
}

Result<GangSpec> GangReader::read(const Waiting& gang) {
  SLACKLINE_ASSIGN(auto object, read_one(gang.ns, gang.ref));
  if (!object) return GangSpec{};
  GangSpec spec = object->spec;
  for (int level = 0; level < kMostOwners && object && object->owner; ++level) {
    const wire::GangObjectRef owner = *object->owner;
    SLACKLINE_ASSIGN(object, read_one(gang.ns, owner));
    if (object) take_clocks(object->spec, spec);
  }
  return spec;
}

Result<std::optional<wire::GangObject>> GangReader::read_one(const std::string& ns,
                                                             const wire::GangObjectRef& ref) {
  const auto path = wire::gang_object_path(ref, ns);
  if (!path) return std::nullopt;
  const auto text = client_.find(*path);
  if (!text) {
    note_unreadable(ref.kind, text.error());
    if (text.error().code == ErrorCode::kForbidden) return std::nullopt;
    return fail(text.error());
  }
  if (!*text) return std::nullopt;
  auto object = wire::read_gang_object(**text, decoder_);
  if (!object || (!ref.uid.empty() && object->uid != ref.uid)) return std::nullopt;
  unreadable_.erase(ref.kind);
  return std::optional(*std::move(object));
}

void GangReader::note_unreadable(const std::string& kind, const Error& error) {
  if (unreadable_.insert(kind).second)
    obs::log_warning(
        "gang_object_unreadable",
        {{"kind", kind},
         {"error", error.message},
         {"meanwhile",
          "a gang that was never read is whole once no pod has come for two seconds"}});
}

void GangReader::publish() {
  auto specs = std::make_shared<GangSpecs>();
  for (const auto& [uid, known] : known_)
    specs->emplace(uid, known.spec);
  cache_.set_gang_specs(std::move(specs));
}

}  // namespace slackline::cluster
