// Teachers: what the samples of one (model, GPU type) say together.
//
// Samples that somebody posted or that calibration runs measured count as they are. Finished runs
// count by namespace: whoever may run Jobs may let them say anything, and one namespace alone is to
// move nothing that others have learnt. Pure.
#pragma once

#include <vector>

#include "slackline/model/sample.h"
#include "slackline/model/workload.h"

namespace slackline::control {

// The speeds that were measured, not by runs, which say how long a task took from end to end.
std::vector<ThroughputSample> measured_samples(const std::vector<ThroughputSample>& samples);

// Those and the runs; where several namespaces ran the same batch on as many nodes and GPUs, those
// of the namespace in the middle by its speed, or of the two there.
std::vector<ThroughputSample> samples_with_runs(const std::vector<ThroughputSample>& samples);

// The entry with what runs say about it (core/throughput/correction.h). What it brings itself
// counts as runs of no namespace.
ProfileEntry corrected_by_runs(ProfileEntry entry, const std::vector<ThroughputSample>& samples);

}  // namespace slackline::control
