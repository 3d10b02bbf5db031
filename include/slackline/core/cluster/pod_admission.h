// What kube-apiserver's admission makes of a template, before there is a pod: the plug-ins
// LimitRanger, PodNodeSelector (and OpenShift's) and RuntimeClass. docs/OPERATIONS.md has the table
// of all.
#pragma once

#include "slackline/model/snapshot.h"

namespace slackline::core {

// The Job with its template as its pods will be; itself if nothing is added.
JobPtr with_admission(const JobPtr& job, const PodAdmission& admission);

// A pod that does not exist yet.
PodPtr with_admission(const PodPtr& pod, const PodAdmission& admission);

}  // namespace slackline::core
