#include "http/routes/extender_routes.h"

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "http/routes/answers.h"
#include "obs/log.h"
#include "slackline/base/clock.h"
#include "slackline/base/mutex.h"
#include "slackline/base/sip_hash.h"
#include "slackline/base/text.h"
#include "wire/extender/extender_codec.h"
#include "wire/rest/status_codec.h"

namespace slackline::http {
namespace {

// Bytes. 15,000 names of 60 letters need less; the worst body of this size is read within 50 ms.
constexpr std::size_t kHotBody = std::size_t{1} << 20;

// Codecs keep their parser's buffers, so they are lent, not made, per request.
class CodecPool {
 public:
  explicit CodecPool(const GpuCatalog& catalog) : catalog_(catalog) {}

  class Loan {
   public:
    Loan(CodecPool& pool, std::unique_ptr<wire::ExtenderCodec> codec)
        : pool_(pool), codec_(std::move(codec)) {}
    ~Loan() { pool_.give_back(std::move(codec_)); }
    Loan(const Loan&) = delete;
    Loan& operator=(const Loan&) = delete;
    wire::ExtenderCodec* operator->() { return codec_.get(); }

   private:
    CodecPool& pool_;
    std::unique_ptr<wire::ExtenderCodec> codec_;
  };

  Loan lend() {
    {
      MutexLock lock(mutex_);
      if (!idle_.empty()) {
        auto codec = std::move(idle_.back());
        idle_.pop_back();
        return {*this, std::move(codec)};
      }
    }
    return {*this, std::make_unique<wire::ExtenderCodec>(catalog_, process_hash_key())};
  }

 private:
  static constexpr std::size_t kMaxIdle = 4;

  void give_back(std::unique_ptr<wire::ExtenderCodec> codec) {
    MutexLock lock(mutex_);
    if (idle_.size() < kMaxIdle) idle_.push_back(std::move(codec));
  }

  const GpuCatalog& catalog_;
  Mutex mutex_;
  std::vector<std::unique_ptr<wire::ExtenderCodec>> idle_ SLACKLINE_GUARDED_BY(mutex_);
};

// The metrics of one verb: latency, results, calls in flight.
struct VerbMetrics {
  VerbMetrics(obs::MetricsRegistry& metrics, std::string_view verb)
      : duration(metrics.histogram("slackline_extender_request_duration_seconds",
                                   obs::latency_bounds_s(), {{"verb", verb}})),
        in_flight(metrics.gauge("slackline_extender_in_flight", {{"verb", verb}})),
        ok(result(metrics, verb, "ok")),
        refused(result(metrics, verb, "refused")),
        bad_request(result(metrics, verb, "bad_request")) {}

  static obs::Counter result(obs::MetricsRegistry& metrics, std::string_view verb,
                             std::string_view result) {
    return metrics.counter("slackline_extender_requests_total",
                           {{"verb", verb}, {"result", result}});
  }

  obs::Histogram duration;
  obs::Gauge in_flight;
  obs::Counter ok;
  obs::Counter refused;
  obs::Counter bad_request;
};

// Counts a call as in flight while it lives, also when the answer throws.
class InFlight {
 public:
  explicit InFlight(const obs::Gauge& gauge) : gauge_(gauge) { gauge_.add(1); }
  ~InFlight() { gauge_.add(-1); }
  InFlight(const InFlight&) = delete;
  InFlight& operator=(const InFlight&) = delete;

 private:
  const obs::Gauge& gauge_;
};

// Large requests that are being judged. kube-scheduler has one or two under way at a time; each
// takes ten times its size.
class LargeCalls {
 public:
  class Place {
   public:
    // Empty if the body is small, or too many large ones are in progress.
    Place(LargeCalls& calls, std::size_t body_size) : calls_(calls), large_(body_size > kHotBody) {
      refused_ = large_ && calls_.count_.fetch_add(1) >= kMost;
    }
    ~Place() {
      if (large_) calls_.count_.fetch_sub(1);
    }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;
    bool refused() const { return refused_; }

   private:
    LargeCalls& calls_;
    const bool large_;
    bool refused_ = false;
  };

 private:
  static constexpr int kMost = 2;
  std::atomic<int> count_{0};
};

struct Answer {
  std::string body;
  bool refused = false;
  int status = 200;
};

// A request, and when it was complete.
struct Call {
  std::string_view body;
  double received_s = 0;
};

// A status other than 200 makes kube-scheduler go on without the extender.
Answer too_many_large() {
  return {wire::encode_status_error(503, "ServiceUnavailable",
                                    "two requests of more than 1 MiB are being judged; try again"),
          true, 503};
}

// Counts and times around a verb; `answer(call)` is Result<Answer>.
template <class F>
Handler observed(std::shared_ptr<VerbMetrics> metrics, std::shared_ptr<LargeCalls> large, Verb verb,
                 const F& answer) {
  return [metrics = std::move(metrics), large = std::move(large), verb,
          answer](const Request& request) {
    const double received_s = request.received_s.value_or(system_clock().steady_s());
    const InFlight in_flight(metrics->in_flight);
    const LargeCalls::Place place(*large, request.body.size());
    Response response;
    Result<Answer> result =
        place.refused() ? Result<Answer>(too_many_large()) : answer(Call{request.body, received_s});
    if (result) {
      response.status = result->status;
      (result->refused ? metrics->refused : metrics->ok).add();
      response.body = std::move(result->body);
    } else {
      metrics->bad_request.add();
      obs::log_warning("extender_bad_request",
                       {{"verb", to_string(verb)}, {"error", result.error().message}});
      response = failure(result.error());
    }
    metrics->duration.observe(system_clock().steady_s() - received_s);
    return response;
  };
}

// Said once: a full-object configuration makes kube-scheduler score with empty nodes.
void warn_full_objects(const NodesRequest& request) {
  static std::atomic<bool> said{false};
  if (!request.full_objects || said.exchange(true)) return;
  obs::log_warning("full_node_objects", {{"remedy",
                                          "set nodeCacheCapable: true for this extender in the "
                                          "KubeSchedulerConfiguration"}});
}

Result<Answer> answer_filter(CodecPool& codecs, control::Extender& extender, const Call& call) {
  auto codec = codecs.lend();
  SLACKLINE_ASSIGN(const auto decoded, codec->decode_nodes(call.body, extender.node_names()));
  if (!decoded.refusal.empty()) return Answer{wire::encode_filter_error(decoded.refusal), true};
  warn_full_objects(decoded.request);
  const FilterReply reply = extender.filter(decoded.request, call.received_s);
  return Answer{codec->encode_filter(decoded.request, reply), !reply.error.empty()};
}

Result<Answer> answer_prioritize(CodecPool& codecs, control::Extender& extender, const Call& call) {
  auto codec = codecs.lend();
  SLACKLINE_ASSIGN(const auto decoded, codec->decode_nodes(call.body, extender.node_names()));
  // A HostPriorityList has no Error: no scores is the honest answer.
  if (!decoded.refusal.empty()) return Answer{"[]", true};
  const PrioritizeReply reply = extender.prioritize(decoded.request, call.received_s);
  return Answer{codec->encode_prioritize(decoded.request, reply), false};
}

Result<Answer> answer_preempt(CodecPool& codecs, control::Extender& extender, const Call& call) {
  auto codec = codecs.lend();
  SLACKLINE_ASSIGN(const auto decoded, codec->decode_preempt(call.body, extender.node_names()));
  // This answer has no Error, and an empty one stops every preemption: a status other than 200
  // makes kube-scheduler go on without the extender.
  if (decoded.too_many)
    return Answer{wire::encode_status_error(413, "RequestEntityTooLarge", decoded.refusal), true,
                  413};
  if (!decoded.refusal.empty()) return Answer{wire::encode_preempt({}), true};
  return Answer{wire::encode_preempt(extender.preempt(decoded.request, call.received_s)), false};
}

Result<Answer> answer_bind(CodecPool& codecs, control::Extender& extender, const Call& call) {
  auto codec = codecs.lend();
  SLACKLINE_ASSIGN(const auto decoded, codec->decode_bind(call.body));
  const BindReply reply = decoded.refusal.empty() ? extender.bind(decoded.request, call.received_s)
                                                  : BindReply{decoded.refusal};
  return Answer{wire::encode_bind(reply), !reply.error.empty()};
}

}  // namespace

void add_extender_routes(Router& router, control::Extender& extender, const GpuCatalog& catalog,
                         obs::MetricsRegistry& metrics, const ExtenderRouteOptions& options) {
  using Answerer = Result<Answer> (*)(CodecPool&, control::Extender&, const Call&);
  struct VerbRoute {
    Verb verb;
    Answerer answer;
    Pool pool;
  };
  constexpr VerbRoute kVerbs[] = {{Verb::kFilter, answer_filter, Pool::kHot},
                                  {Verb::kPrioritize, answer_prioritize, Pool::kHot},
                                  {Verb::kPreempt, answer_preempt, Pool::kHot},
                                  {Verb::kBind, answer_bind, Pool::kThreads}};
  const auto codecs = std::make_shared<CodecPool>(catalog);
  const auto large = std::make_shared<LargeCalls>();
  for (const VerbRoute& verb : kVerbs) {
    auto verb_metrics = std::make_shared<VerbMetrics>(metrics, to_string(verb.verb));
    const Answerer answer = verb.answer;
    Route route;
    route.method = "POST";
    route.pattern = format("/v1/extender/{}", to_string(verb.verb));
    route.max_body = options.max_body;
    route.pool = verb.pool;
    route.hot_body = kHotBody;
    route.handler = observed(
        std::move(verb_metrics), large, verb.verb,
        [codecs, answer, &extender](const Call& call) { return answer(*codecs, extender, call); });
    router.add(std::move(route));
  }
}

}  // namespace slackline::http
