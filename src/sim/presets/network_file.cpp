#include "sim/presets/network_file.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "sim/presets/preset.h"
#include "slackline/base/text.h"
#include "slackline/core/learning/mlp.h"
#include "wire/format/json_view.h"
#include "wire/format/json_writer.h"

namespace slackline::sim {
namespace {

constexpr std::int64_t kVersion = 1;
constexpr std::string_view kTrainedPreset = "paper001";
constexpr double kMostNumber = 1e6;  // of a weight or a feature, whichever sign
constexpr double kMostRate = 1000;
constexpr std::int64_t kMostDecisions = 1'000'000'000;

tl::unexpected<Error> refused(std::string message) {
  return fail(ErrorCode::kInvalidArgument, std::move(message));
}

Result<double> number_of(wire::JsonView object, std::string_view key, double least, double most) {
  const auto number = object[key].number();
  if (!number || !(*number >= least && *number <= most))
    return refused(format("{} must be a number between {:g} and {:g}", key, least, most));
  return *number;
}

Result<std::int64_t> whole_of(wire::JsonView object, std::string_view key, std::int64_t least,
                              std::int64_t most) {
  const auto number = object[key].integer();
  if (!number || *number < least || *number > most)
    return refused(format("{} must be a whole number between {} and {}", key, least, most));
  return *number;
}

Result<NetTraining> training_of(wire::JsonView root) {
  NetTraining training;
  const auto worlds = parse_seeds(root["worlds"].text());
  if (!worlds) return fail(worlds.error().with_context("worlds"));
  training.worlds = *worlds;
  SLACKLINE_ASSIGN(training.per_minute, number_of(root, "rate", 0.1, kMostRate));
  training.clean = root["clean"].is_true();
  const auto least = static_cast<std::int64_t>(training.worlds.size());
  SLACKLINE_ASSIGN(const auto decisions, whole_of(root, "decisions", least, kMostDecisions));
  training.decisions = static_cast<int>(decisions);
  SLACKLINE_ASSIGN(const auto seed,
                   whole_of(root, "seed", 0, std::numeric_limits<std::int64_t>::max()));
  training.seed = static_cast<std::uint64_t>(seed);
  return training;
}

Result<std::vector<core::CorrectionNet::Feature>> features_in(wire::JsonView list) {
  const auto names = dispatch_features();
  std::vector<core::CorrectionNet::Feature> features;
  for (const wire::JsonView item : list.items()) {
    if (features.size() == names.size() || item["name"].text() != names[features.size()]) break;
    core::CorrectionNet::Feature feature;
    SLACKLINE_ASSIGN(feature.mean, number_of(item, "mean", -kMostNumber, kMostNumber));
    SLACKLINE_ASSIGN(feature.deviation, number_of(item, "deviation", 1e-9, kMostNumber));
    SLACKLINE_ASSIGN(feature.least, number_of(item, "least", -kMostNumber, kMostNumber));
    SLACKLINE_ASSIGN(feature.most, number_of(item, "most", feature.least, kMostNumber));
    features.push_back(feature);
  }
  if (features.size() != names.size() || list.items().count() != names.size())
    return refused(format("features must be those of {}: {}", kTrainedPreset, join(names, ", ")));
  return features;
}

Result<std::vector<double>> weights_in(wire::JsonView root) {
  const auto widths = core::CorrectionNet::widths(dispatch_features().size());
  std::vector<std::int64_t> layers;
  for (const wire::JsonView item : root["layers"].items())
    if (layers.size() <= widths.size()) layers.push_back(item.integer().value_or(-1));
  if (!std::equal(layers.begin(), layers.end(), widths.begin(), widths.end()))
    return refused(format("layers must be [{}]", fmt::join(widths, ", ")));
  const std::size_t count = core::Mlp::weight_count(widths);
  const wire::JsonItems items = root["weights"].items();
  if (items.count() != count)
    return refused(format("weights must be {} numbers, as the layers need", count));
  std::vector<double> weights;
  weights.reserve(count);
  for (const wire::JsonView item : items) {
    const auto weight = item.number();
    if (!weight || !(std::abs(*weight) <= kMostNumber))
      return refused(format("weights[{}] must be a number between {:g} and {:g}", weights.size(),
                            -kMostNumber, kMostNumber));
    weights.push_back(*weight);
  }
  return weights;
}

Result<TrainedNet> decode(std::string_view text) {
  wire::JsonDocument document;
  SLACKLINE_ASSIGN(const wire::JsonView root, document.parse(text));
  if (!root.is_object() || !root["version"].present())
    return refused("is no network of `slackline train`: it has no version");
  if (root["version"].integer() != kVersion)
    return refused(format("has another version than {}; train it again", kVersion));
  if (root["preset"].text() != kTrainedPreset)
    return refused(format("was trained for the preset \"{}\", not {}",
                          printable(root["preset"].text(), 64), kTrainedPreset));
  SLACKLINE_ASSIGN(NetTraining training, training_of(root));
  NetError error;
  SLACKLINE_ASSIGN(error.before, number_of(root, "error_before", 0, kMostNumber));
  SLACKLINE_ASSIGN(error.after, number_of(root, "error_after", 0, kMostNumber));
  SLACKLINE_ASSIGN(auto features, features_in(root["features"]));
  SLACKLINE_ASSIGN(auto weights, weights_in(root));
  return TrainedNet{std::move(training), error, {std::move(features), std::move(weights)}};
}

std::string worlds_of(const NetTraining& training) {
  const auto& worlds = training.worlds;
  if (worlds.size() == 1) return format("{}", worlds.front());
  return format("{}-{}", worlds.front(), worlds.back());
}

}  // namespace

std::string describe(const NetTraining& training) {
  return format("{} tasks of {} {} at {:g} a minute{}", training.decisions,
                training.worlds.size() == 1 ? "world" : "worlds", worlds_of(training),
                training.per_minute, training.clean ? ", clean" : "");
}

TrainedNet train_network(const NetTraining& training, const TrainingStep& step) {
  core::CorrectionNet net = train_net(training, step);
  if (step) step("measuring its error");
  const NetError error = error_of_net(net, training);
  return {training, error, std::move(net)};
}

std::string write_network(const TrainedNet& trained) {
  const NetTraining& training = trained.training;
  wire::JsonWriter out;
  out.begin_object().field("version", kVersion).field("preset", kTrainedPreset);
  out.field("worlds", worlds_of(training));
  out.field("rate", training.per_minute).field("clean", training.clean);
  out.field("seed", training.seed).field("decisions", training.decisions);
  out.field("error_before", trained.error.before).field("error_after", trained.error.after);
  const auto names = dispatch_features();
  out.key("features").begin_array();
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto& feature = trained.net.features()[i];
    out.begin_object().field("name", names[i]).field("mean", feature.mean);
    out.field("deviation", feature.deviation);
    out.field("least", feature.least).field("most", feature.most).end_object();
  }
  out.end_array().key("layers").begin_array();
  for (const int width : core::CorrectionNet::widths(names.size()))
    out.integer(width);
  out.end_array().key("weights").begin_array();
  for (const double weight : trained.net.weights())
    out.number(weight);
  out.end_array().end_object();
  return out.take() + "\n";
}

Result<TrainedNet> read_network(std::string_view text, std::string_view path) {
  auto trained = decode(text);
  if (!trained) return fail(trained.error().with_context(path));
  return trained;
}

}  // namespace slackline::sim
