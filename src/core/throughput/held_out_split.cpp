#include "held_out_split.h"

#include <algorithm>
#include <cmath>
#include <map>
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
  if (count < 3 || folds > count)
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

// Up to four symmetric layouts of several GPUs, the most different ones: all GPUs of a node, all
// nodes with all of theirs, one GPU on each of most nodes, and half of the first.
std::vector<Layout> few_layouts(Samples samples) {
  std::set<Layout, LayoutOrder> shapes;
  for (const ThroughputSample& sample : samples)
    if (sample.layout.symmetric() && sample.layout.spread().gpus > 1) shapes.insert(sample.layout);
  const auto largest = [&](auto&& rank) {
    return *std::max_element(shapes.begin(), shapes.end(), [&](const Layout& a, const Layout& b) {
      return rank(a.spread()) < rank(b.spread());
    });
  };
  std::vector<Layout> chosen;
  while (chosen.size() < 4 && !shapes.empty()) {
    Layout next;
    if (chosen.empty())
      next = largest([](Spread s) { return std::tuple(-s.nodes, s.gpus); });
    else if (chosen.size() == 1)
      next = largest([](Spread s) { return std::tuple(s.gpus, -s.nodes); });
    else if (chosen.size() == 2)
      next = largest([](Spread s) { return std::tuple(-s.most_per_node, s.nodes); });
    else
      next = largest([](Spread s) { return std::tuple(-s.gpus, -s.nodes); });
    shapes.erase(next);
    chosen.push_back(std::move(next));
  }
  return chosen;
}

// The samples of a layout at the batches of one GPU nearest to a quarter and three quarters.
void take_two_batches(Samples samples, const Layout& layout, std::set<std::size_t>& taken) {
  std::map<double, std::vector<std::size_t>> batches;
  for (std::size_t i = 0; i < samples.size(); ++i)
    if (samples[i].layout == layout) batches[local_batch(samples[i])].push_back(i);
  const std::size_t last = batches.size() - 1;
  for (const std::size_t rank : {last / 4, last - last / 4}) {
    const auto& indices = std::next(batches.begin(), static_cast<std::ptrdiff_t>(rank))->second;
    taken.insert(indices.begin(), indices.end());
  }
}

Result<std::vector<HoldOutFold>> few_fold(Samples samples) {
  const auto batches = single_gpu_batches(samples);
  const std::vector<Layout> layouts = few_layouts(samples);
  if (batches.size() < 3 || layouts.size() < 2)
    return fail(ErrorCode::kInvalidArgument,
                "few takes three batches on one GPU and two symmetric layouts of several GPUs: "
                "measure them");
  std::set<std::size_t> taken;
  const auto middle = static_cast<std::ptrdiff_t>(batches.size() / 2);
  for (const auto& at :
       {batches.begin(), std::next(batches.begin(), middle), std::prev(batches.end())})
    taken.insert(at->second.begin(), at->second.end());
  for (const Layout& layout : layouts)
    take_two_batches(samples, layout, taken);
  HoldOutFold fold;
  for (std::size_t i = 0; i < samples.size(); ++i)
    (taken.contains(i) ? fold.fitted : fold.predicted).push_back(i);
  if (fold.predicted.empty())
    return fail(ErrorCode::kInvalidArgument, "few leaves nothing to predict: use loo");
  return std::vector<HoldOutFold>{std::move(fold)};
}

}  // namespace

Result<HoldOut> parse_hold_out(std::string_view text) {
  if (text == "loo") return HoldOut{HoldOut::Kind::kLeaveOneOut, 0};
  if (text == "few") return HoldOut{HoldOut::Kind::kFew, 0};
  if (text == "batches") return HoldOut{HoldOut::Kind::kBatches, 0};
  constexpr std::string_view kPrefix = "kfold:";
  if (text.starts_with(kPrefix)) {
    const auto folds = parse_int(text.substr(kPrefix.size()));
    if (folds && *folds >= 2 && *folds <= 1000)
      return HoldOut{HoldOut::Kind::kKFold, static_cast<int>(*folds)};
  }
  return fail(ErrorCode::kInvalidArgument,
              format("\"{}\" is no way to hold out: write loo, kfold:N (2 to 1000), few or batches",
                     printable(text, 64)));
}

std::string to_string(const HoldOut& hold_out) {
  switch (hold_out.kind) {
    case HoldOut::Kind::kLeaveOneOut:
      return "loo";
    case HoldOut::Kind::kFew:
      return "few";
    case HoldOut::Kind::kBatches:
      return "batches";
    case HoldOut::Kind::kKFold:
      break;
  }
  return format("kfold:{}", hold_out.folds);
}

Result<std::vector<HoldOutFold>> hold_out_folds(Samples samples, const HoldOut& hold_out) {
  if (hold_out.kind == HoldOut::Kind::kFew) return few_fold(samples);
  if (hold_out.kind == HoldOut::Kind::kBatches) return batch_folds(samples);
  return layout_folds(samples, hold_out);
}

}  // namespace slackline::core
