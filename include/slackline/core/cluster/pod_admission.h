// What kube-apiserver's admission makes of a template, before there is a pod: the plug-ins
// LimitRanger, PodNodeSelector (and OpenShift's), PodTolerationRestriction, RuntimeClass, what
// ResourceQuota wants stated and, of a Job's template, Priority. docs/OPERATIONS.md has the table
// of all. And which volumes its pods will have.
#pragma once

#include <string>
#include <vector>

#include "slackline/model/snapshot.h"

namespace slackline::core {

// The Job with its template as its pods will be; itself if nothing is added.
JobPtr with_admission(const JobPtr& job, const PodAdmission& admission);

// A pod that does not exist yet.
PodPtr with_admission(const PodPtr& pod, const PodAdmission& admission);

// A pod that exists, with the volumes of its claims: itself if every node reaches them.
PodPtr with_volumes(const PodPtr& pod, const PodAdmission& admission);

// Whether plug-ins that read a namespace's annotations change or refuse some pods.
bool adds_or_refuses(const NamespaceAdmission& ns);

// Whether a pod has the tolerations that PodTolerationRestriction leaves to pods of the namespace.
bool shows_tolerations_of(const NamespaceAdmission& ns, const SchedulingConstraints& of_pod);

// What a ResourceQuota demands of each container, and one of such pods does not state; empty: none.
// Webhooks of others may add it. `ask` may be null: nothing is known.
std::string unstated(const ClusterSnapshot& snapshot, const std::string& ns, const PodAsk* ask);

// What admission may do to such pods of a namespace that is not counted, a sentence each.
// `constraints` and `ask` may be null.
std::vector<std::string> admission_doubts(const ClusterSnapshot& snapshot, const std::string& ns,
                                          const SchedulingConstraints* constraints,
                                          const PodAsk* ask);

}  // namespace slackline::core
