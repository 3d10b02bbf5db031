// Trace files: CSV with the header `id,submit,type,batch,iters,klass,deadline,req[,gpu_types]`.
//
// gpu_types: accepted GPU types in order of preference, as "P100,K80" in quotes; empty or `any`:
// all. submit and deadline are absolute seconds, klass is Urgent, Prior or Normal, batch the global
// batch, iters may be fractional, req is the GPUs asked for. Lines end in LF or CRLF; the file
// keeps its order, which must be by submit.
#pragma once

#include <string>
#include <string_view>

#include "sim/trace.h"
#include "slackline/base/result.h"

namespace slackline::sim {

// "P100, K80" or "any", which is empty.
Result<std::vector<GpuType>> parse_gpu_types(std::string_view text);

// kInvalidArgument with line and column of the mistake. Ids must be unique, numbers finite, batch,
// iters and req positive.
Result<Trace> parse_trace_csv(std::string_view text);

// The same format, CRLF line ends, submit and deadline with 9 decimals.
std::string format_trace_csv(const Trace& trace);

}  // namespace slackline::sim
