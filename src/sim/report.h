// The result of a simulated run: one report, and the log of its events.
#pragma once

#include <cstdint>
#include <string>

#include "sim/engine.h"

namespace slackline::sim {

// Percentages are 0-100. norm(t) = (finish - submit) / Lat<1,1>. Latencies and waits are over the
// tasks that finished; a task that was never served counts as missed.
struct Report {
  std::string policy;         // the family, without variants
  std::int64_t tasks = 0;     // n
  std::int64_t unserved = 0;  // never finished: the policy cannot place them
  double q = 0;               // finished by the deadline, of all
  double q_no_urgent = 0;     // the same tasks, of those not Urgent
  double q_prior = 0;         // of the class; 0 if it is empty
  double q_normal = 0;
  double makespan_h = 0;        // last finish, from time 0
  double norm_latency = 0;      // mean
  double norm_latency_p95 = 0;  // element floor(0.95 (n - 1))
  double max_norm_wait = 0;     // to the first start
  double max_wait_h = 0;
  double mean_wait_h = 0;     // not in the JSON
  double urgent_latency = 0;  // mean norm of Urgent tasks; 0 if there is none
  double util = 0;            // GPU-seconds held, of all until the last finish
  double util_arrivals = 0;   // the same until the last submit
  double gpu_hours = 0;       // held, start-up and lost work included
  std::int64_t preemptions = 0;
  double lost_gpu_hours = 0;  // that stopped runs held in vain; not in the JSON
  int most_stops = 0;         // of one task; not in the JSON
  std::int64_t resizes = 0;   // running tasks that grew
  std::int64_t events = 0;    // calls of the policy
};

Report make_report(const core::TaskTable& tasks, const Platform& platform,
                   const core::Policy& policy, const Outcome& outcome);

// Fields by the names above; `unserved` only where it is not 0.
std::string format_report_json(const Report& report);

// time_s,event,task,pool,d_node,d_gn,nodes; CRLF.
std::string format_events_csv(const core::TaskTable& tasks, const Platform& platform,
                              const Outcome& outcome);

}  // namespace slackline::sim
