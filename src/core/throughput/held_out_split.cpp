#include "held_out_split.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>

#include "slackline/base/text.h"

namespace slackline::core {
namespace {

using Samples = std::span<const ThroughputSample>;

double local_batch(const ThroughputSample& sample) {
  return sample.batch / sample.layout.spread().gpus;
}

// By spread, as fits see them, then by the layout itself.
struct LayoutOrder {
  bool operator()(const Layout& a, const Layout& b) const {
    return std::tuple(a.spread(), a) < std::tuple(b.spread(), b);
  }
};

std::vector<HoldOutFold> folds_by(const std::vector<int>& fold_of_sample, int folds) {
  std::vector<HoldOutFold> out(static_cast<std::size_t>(folds));
  for (std::size_t i = 0; i < fold_of_sample.size(); ++i)
    for (int fold = 0; fold < folds; ++fold) {
      HoldOutFold& at = out[static_cast<std::size_t>(fold)];
      (fold_of_sample[i] == fold ? at.predicted : at.fitted).push_back(i);
    }
  return out;
}

Result<std::vector<HoldOutFold>> layout_folds(Samples samples, const HoldOut& hold_out) {
  std::map<Layout, int, LayoutOrder> layouts;
  for (const ThroughputSample& sample : samples)
    layouts[sample.layout] = 0;
  const auto count = static_cast<int>(layouts.size());
  const int folds = hold_out.kind == HoldOut::Kind::kKFold ? hold_out.folds : count;
  const int least = hold_out.kind == HoldOut::Kind::kKFold ? 3 : 1;
  if (count < least || folds > count)
    return fail(ErrorCode::kInvalidArgument,
                format("{} layouts are too few for {}: measure more, or hold out batches", count,
                       to_string(hold_out)));
  int next = 0;
  for (auto& [layout, fold] : layouts)
    fold = next++ % folds;
  std::vector<int> fold_of_sample;
  for (const ThroughputSample& sample : samples)
    fold_of_sample.push_back(layouts.at(sample.layout));
  return folds_by(fold_of_sample, folds);
}

// Samples of one GPU by batch.
std::map<double, std::vector<std::size_t>> single_gpu_batches(Samples samples) {
  std::map<double, std::vector<std::size_t>> batches;
  for (std::size_t i = 0; i < samples.size(); ++i)
    if (samples[i].layout == Layout()) batches[samples[i].batch].push_back(i);
  return batches;
}

Result<std::vector<HoldOutFold>> batch_folds(Samples samples) {
  const auto batches = single_gpu_batches(samples);
  if (batches.size() < 3)
    return fail(
        ErrorCode::kInvalidArgument,
        format("{} batches on one GPU have none in between: measure at least 3", batches.size()));
  std::vector<HoldOutFold> folds;
  for (auto left_out = std::next(batches.begin()); std::next(left_out) != batches.end();
       ++left_out) {
    HoldOutFold& fold = folds.emplace_back();
    fold.predicted = left_out->second;
    for (const auto& [batch, indices] : batches)
      if (batch != left_out->first)
        fold.fitted.insert(fold.fitted.end(), indices.begin(), indices.end());
  }
  return folds;
}

// Up to `most` symmetric layouts of several GPUs, the most different ones first: all GPUs of a
// node, all nodes with all of theirs, one GPU on each of most nodes, all of two nodes, and again.
std::vector<Layout> few_layouts(Samples samples, std::size_t most) {
  std::set<Layout, LayoutOrder> shapes;
  for (const ThroughputSample& sample : samples)
    if (sample.layout.symmetric() && sample.layout.spread().gpus > 1) shapes.insert(sample.layout);
  const auto largest = [&](auto&& rank) {
    return *std::max_element(shapes.begin(), shapes.end(), [&](const Layout& a, const Layout& b) {
      return rank(a.spread()) < rank(b.spread());
    });
  };
  std::vector<Layout> chosen;
  while (chosen.size() < most && !shapes.empty()) {
    Layout next;
    const std::size_t turn = chosen.size() % 4;
    if (turn == 0)
      next = largest([](Spread s) { return std::tuple(-s.nodes, s.gpus); });
    else if (turn == 1)
      next = largest([](Spread s) { return std::tuple(s.gpus, -s.nodes); });
    else if (turn == 2)
      next = largest([](Spread s) { return std::tuple(-s.most_per_node, s.nodes); });
    else
      next = largest([](Spread s) { return std::tuple(-std::abs(s.nodes - 2), s.gpus); });
    shapes.erase(next);
    chosen.push_back(std::move(next));
  }
  return chosen;
}

// The samples of a layout at `count` batches of one GPU, evenly spread and none at the edge: two
// are the ones nearest to a quarter and three quarters.
void take_batches(Samples samples, const Layout& layout, std::size_t count,
                  std::set<std::size_t>& taken) {
  std::map<double, std::vector<std::size_t>> batches;
  for (std::size_t i = 0; i < samples.size(); ++i)
    if (samples[i].layout == layout) batches[local_batch(samples[i])].push_back(i);
  const std::size_t last = batches.size() - 1;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t from_edge = std::min(i, count - 1 - i);
    const std::size_t inward = last * (2 * from_edge + 1) / (2 * count);
    const std::size_t rank = 2 * i + 1 < count ? inward : last - inward;
    const auto& indices = std::next(batches.begin(), static_cast<std::ptrdiff_t>(rank))->second;
    taken.insert(indices.begin(), indices.end());
  }
}

Result<std::vector<HoldOutFold>> few_fold(Samples samples, const HoldOut& few) {
  const auto wanted = static_cast<std::size_t>(few.batches);
  const auto batches = single_gpu_batches(samples);
  const auto layouts = few_layouts(samples, static_cast<std::size_t>(few.layouts));
  if (batches.size() < wanted || layouts.size() < 2)
    return fail(ErrorCode::kInvalidArgument,
                format("few takes {} batches on one GPU and two symmetric layouts of several GPUs: "
                       "measure them",
                       wanted));
  std::set<std::size_t> taken;
  for (std::size_t i = 0; i < wanted; ++i) {  // from the least to the most, halves rounded up
    const std::size_t rank = (i * (batches.size() - 1) + wanted - 2) / (wanted - 1);
    const auto& indices = std::next(batches.begin(), static_cast<std::ptrdiff_t>(rank))->second;
    taken.insert(indices.begin(), indices.end());
  }
  for (const Layout& layout : layouts)
    take_batches(samples, layout, static_cast<std::size_t>(few.layout_batches), taken);
  HoldOutFold fold;
  for (std::size_t i = 0; i < samples.size(); ++i)
    (taken.contains(i) ? fold.fitted : fold.predicted).push_back(i);
  if (fold.predicted.empty())
    return fail(ErrorCode::kInvalidArgument, "few leaves nothing to predict: use loo");
  return std::vector<HoldOutFold>{std::move(fold)};
}

std::optional<int> count_from(std::string_view text, std::int64_t least) {
  const auto count = parse_int(text);
  if (!count || *count < least || *count > 1000) return std::nullopt;
  return static_cast<int>(*count);
}

// "3+4x2"
std::optional<HoldOut> parse_few(std::string_view text) {
  const auto parts = split(text, '+');
  const auto shapes = split(parts.back(), 'x');
  if (parts.size() != 2 || shapes.size() != 2) return std::nullopt;
  const auto batches = count_from(parts[0], 2);
  const auto layouts = count_from(shapes[0], 2);
  const auto layout_batches = count_from(shapes[1], 1);
  if (!batches || !layouts || !layout_batches) return std::nullopt;
  return HoldOut{HoldOut::Kind::kFew, 0, *batches, *layouts, *layout_batches};
}

}  // namespace

Result<HoldOut> parse_hold_out(std::string_view text) {
  constexpr std::string_view kKFold = "kfold:";
  constexpr std::string_view kFew = "few:";
  if (text == "loo") return HoldOut{};
  if (text == "few") return HoldOut{HoldOut::Kind::kFew};
  if (text == "batches") return HoldOut{HoldOut::Kind::kBatches};
  if (text.starts_with(kKFold))
    if (const auto folds = count_from(text.substr(kKFold.size()), 2))
      return HoldOut{HoldOut::Kind::kKFold, *folds};
  if (text.starts_with(kFew))
    if (const auto few = parse_few(text.substr(kFew.size()))) return *few;
  return fail(
      ErrorCode::kInvalidArgument,
      format(
          "\"{}\" is not a way to hold samples out: write loo, kfold:N (2 to 1000), few, few:B+LxK "
          "(B batches on one GPU, L layouts at K batches; few is few:3+4x2) or batches",
          printable(text, 64)));
}

std::string to_string(const HoldOut& hold_out) {
  switch (hold_out.kind) {
    case HoldOut::Kind::kLeaveOneOut:
      return "loo";
    case HoldOut::Kind::kFew:
      return format("few:{}+{}x{}", hold_out.batches, hold_out.layouts, hold_out.layout_batches);
    case HoldOut::Kind::kBatches:
      return "batches";
    case HoldOut::Kind::kKFold:
      break;
  }
  return format("kfold:{}", hold_out.folds);
}

Result<std::vector<HoldOutFold>> measurement_folds(Samples samples) {
  std::map<std::pair<Layout, double>, int> measurements;
  for (const ThroughputSample& sample : samples)
    measurements[{sample.layout, sample.batch}] = 0;
  int next = 0;
  for (auto& [key, fold] : measurements)
    fold = next++;
  const bool repeated = measurements.size() < 2;  // one, again and again
  if (repeated) next = static_cast<int>(samples.size());
  if (next < 2)
    return fail(ErrorCode::kInvalidArgument,
                "one measurement has nothing to be predicted from: measure another one");
  std::vector<int> fold_of_sample;
  for (std::size_t i = 0; i < samples.size(); ++i)
    fold_of_sample.push_back(repeated ? static_cast<int>(i)
                                      : measurements.at({samples[i].layout, samples[i].batch}));
  return folds_by(fold_of_sample, next);
}

Result<std::vector<HoldOutFold>> hold_out_folds(Samples samples, const HoldOut& hold_out) {
  if (hold_out.kind == HoldOut::Kind::kFew) return few_fold(samples, hold_out);
  if (hold_out.kind == HoldOut::Kind::kBatches) return batch_folds(samples);
  return layout_folds(samples, hold_out);
}

}  // namespace slackline::core
