// The file of a trained network: `slackline train` writes it, `simulate --network` reads it.
//
// {"version":1,"preset":"paper001","worlds":"0-4","rate":48,"clean":false,"seed":0,
//  "decisions":6000,"error_before":0.23,"error_after":0.13,
//  "features":[{"name":"gpus","mean":3,"deviation":1,"least":2,"most":4}, ...],
//  "layers":[9,64,32,1],"weights":[...]}
//
// `weights`: layer by layer, outputs x inputs by columns, then the biases. A file is refused that
// has another version, other features, or a number that is none.
#pragma once

#include <string>
#include <string_view>

#include "sim/presets/dispatch_learning.h"
#include "slackline/base/result.h"
#include "slackline/core/learning/correction_net.h"

namespace slackline::sim {

struct TrainedNet {
  NetTraining training;
  NetError error;
  core::CorrectionNet net;
};

// "6000 tasks of worlds 0-4 at 48 a minute".
std::string describe(const NetTraining& training);

TrainedNet train_network(const NetTraining& training, const TrainingStep& step = {});
std::string write_network(const TrainedNet& trained);
// The error begins with the path.
Result<TrainedNet> read_network(std::string_view text, std::string_view path);

}  // namespace slackline::sim
