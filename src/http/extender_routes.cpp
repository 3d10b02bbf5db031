#include "http/extender_routes.h"

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "http/answers.h"
#include "obs/log.h"
#include "obs/log_limit.h"
#include "slackline/base/clock.h"
#include "slackline/base/mutex.h"
#include "slackline/base/text.h"
#include "wire/extender_codec.h"

namespace slackline::http {
namespace {

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
    return {*this, std::make_unique<wire::ExtenderCodec>(catalog_)};
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

// What one verb reports: latency, results, how many are in flight.
struct VerbMetrics {
  VerbMetrics(obs::MetricsRegistry& metrics, std::string_view verb)
      : duration(metrics.histogram("slackline_extender_request_duration_seconds",
                                   "Time from the whole request to the whole answer, by verb",
                                   obs::latency_bounds_s(), {{"verb", verb}})),
        in_flight(metrics.gauge("slackline_extender_in_flight",
                                "Extender calls being answered, by verb", {{"verb", verb}})),
        ok(result(metrics, verb, "ok")),
        refused(result(metrics, verb, "refused")),
        bad_request(result(metrics, verb, "bad_request")) {}

  static obs::Counter result(obs::MetricsRegistry& metrics, std::string_view verb,
                             std::string_view result) {
    return metrics.counter("slackline_extender_requests_total",
                           "Extender calls by verb and result: ok, refused (answered with Error), "
                           "bad_request (undecodable)",
                           {{"verb", verb}, {"result", result}});
  }

  obs::Histogram duration;
  obs::Gauge in_flight;
  obs::Counter ok;
  obs::Counter refused;
  obs::Counter bad_request;
  obs::LogLimit bad_lines;
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

struct Answer {
  std::string body;
  bool refused = false;
};

// Counts and times around a verb; `answer(request)` is Result<Answer>.
template <class F>
Handler observed(std::shared_ptr<VerbMetrics> metrics, Verb verb, const F& answer) {
  return [metrics = std::move(metrics), verb, answer](const Request& request) {
    const double started_s = system_clock().steady_s();
    const InFlight in_flight(metrics->in_flight);
    Response response;
    Result<Answer> result = answer(request);
    if (result) {
      (result->refused ? metrics->refused : metrics->ok).add();
      response.body = std::move(result->body);
    } else {
      metrics->bad_request.add();
      if (const auto left_out = metrics->bad_lines.admit(started_s))
        obs::log_warning("extender_bad_request", {{"verb", to_string(verb)},
                                                  {"error", result.error().message},
                                                  {"left_out", *left_out}});
      response = failure(result.error());
    }
    metrics->duration.observe(system_clock().steady_s() - started_s);
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

Result<Answer> answer_filter(CodecPool& codecs, control::Extender& extender, const Request& http) {
  auto codec = codecs.lend();
  SLACKLINE_ASSIGN(const auto decoded, codec->decode_nodes(http.body, extender.node_names()));
  if (!decoded.refusal.empty()) return Answer{wire::encode_filter_error(decoded.refusal), true};
  warn_full_objects(decoded.request);
  const FilterReply reply = extender.filter(decoded.request);
  return Answer{codec->encode_filter(decoded.request, reply), !reply.error.empty()};
}

Result<Answer> answer_prioritize(CodecPool& codecs, control::Extender& extender,
                                 const Request& http) {
  auto codec = codecs.lend();
  SLACKLINE_ASSIGN(const auto decoded, codec->decode_nodes(http.body, extender.node_names()));
  // A HostPriorityList has no Error: no scores is the honest answer.
  if (!decoded.refusal.empty()) return Answer{"[]", true};
  const PrioritizeReply reply = extender.prioritize(decoded.request);
  return Answer{codec->encode_prioritize(decoded.request, reply), false};
}

Result<Answer> answer_preempt(CodecPool& codecs, control::Extender& extender, const Request& http) {
  auto codec = codecs.lend();
  SLACKLINE_ASSIGN(const auto decoded, codec->decode_preempt(http.body));
  if (!decoded.refusal.empty()) return Answer{wire::encode_preempt({}), true};
  return Answer{wire::encode_preempt(extender.preempt(decoded.request)), false};
}

Result<Answer> answer_bind(CodecPool& codecs, control::Extender& extender, const Request& http) {
  auto codec = codecs.lend();
  SLACKLINE_ASSIGN(const auto decoded, codec->decode_bind(http.body));
  const BindReply reply =
      decoded.refusal.empty() ? extender.bind(decoded.request) : BindReply{decoded.refusal};
  return Answer{wire::encode_bind(reply), !reply.error.empty()};
}

}  // namespace

void add_extender_routes(Router& router, control::Extender& extender, const GpuCatalog& catalog,
                         obs::MetricsRegistry& metrics, const ExtenderRouteOptions& options) {
  using Answerer = Result<Answer> (*)(CodecPool&, control::Extender&, const Request&);
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
  for (const VerbRoute& verb : kVerbs) {
    auto verb_metrics = std::make_shared<VerbMetrics>(metrics, to_string(verb.verb));
    const Answerer answer = verb.answer;
    Route route;
    route.method = "POST";
    route.pattern = format("/v1/extender/{}", to_string(verb.verb));
    route.max_body = options.max_body;
    route.pool = verb.pool;
    route.handler = observed(std::move(verb_metrics), verb.verb,
                             [codecs, answer, &extender](const Request& request) {
                               return answer(*codecs, extender, request);
                             });
    router.add(std::move(route));
  }
}

}  // namespace slackline::http
