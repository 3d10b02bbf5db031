// SavableFirst under its names, and the options that it takes.
#include <algorithm>

#include "policies.h"
#include "reserve.h"
#include "savable_options.h"

namespace slackline::core {
namespace {

using Savable = SavableOptions;

constexpr OptionWord<Savable> kPreempts[] = {
    option_word<&Savable::preempt, Savable::Preempt::kNever, Savable>("0"),
    option_word<&Savable::preempt, Savable::Preempt::kLateVictims, Savable>("1"),
    option_word<&Savable::preempt, Savable::Preempt::kResumableVictims, Savable>("2"),
};
constexpr OptionWord<Savable> kPlaces[] = {
    option_word<&Savable::place, Savable::Place::kPrice, Savable>("price"),
    option_word<&Savable::place, Savable::Place::kCer, Savable>("cer"),
    option_word<&Savable::place, Savable::Place::kArea, Savable>("area"),
    option_word<&Savable::place, Savable::Place::kPerf, Savable>("perf"),
};
constexpr OptionWord<Savable> kOrders[] = {
    option_word<&Savable::order, Savable::Order::kDeadline, Savable>("deadline"),
    option_word<&Savable::order, Savable::Order::kArea, Savable>("area"),
    option_word<&Savable::order, Savable::Order::kSlack, Savable>("slack"),
    option_word<&Savable::order, Savable::Order::kClass, Savable>("class"),
};
constexpr OptionWord<Savable> kRests[] = {
    option_word<&Savable::rest, Savable::Rest::kRatio, Savable>("ratio"),
    option_word<&Savable::rest, Savable::Rest::kFifo, Savable>("fifo"),
    option_word<&Savable::rest, Savable::Rest::kArea, Savable>("area"),
    option_word<&Savable::rest, Savable::Rest::kLevel, Savable>("level"),
};

using Number = NumberField<Savable>;
using Switch = SwitchField<Savable>;
using Words = WordField<Savable>;

constexpr OptionOf<Savable> kSavableOptions[] = {
    {"p0", Number{&Savable::p0}, "price of a GPU when nobody waits"},
    {"age", Number{&Savable::age}, "a late task is promoted after age x base + floor"},
    {"floor", Number{&Savable::floor_s}, "seconds; see age"},
    {"share", Number{&Savable::share, 1}, "of the GPUs that promoted tasks may hold"},
    {"headroom", Number{&Savable::headroom, 1},
     "share of the GPUs kept free from late tasks that could leave them, for an hour after an "
     "arrival"},
    {"calm", Number{&Savable::calm, 1},
     "the same, from savable tasks with more than an hour of slack"},
    {"margin", NumberOrWordField<Savable>{&Savable::margin, "auto"},
     "inflation of predicted times; auto: 1.5 x the model's measured error, at most 0.3"},
    {"preempt", Words(kPreempts), "victims: none, late runs, or those that can resume as well"},
    {"patience", Number{&Savable::patience_s},
     "seconds; a savable task asks for room when its slack is below"},
    {"gap", Number{&Savable::gap},
     "what a victim must have in reserve, in run times of the preemptor"},
    {"protect", Number{&Savable::protect_s},
     "seconds; no run is stopped before, and a victim's extra reserve"},
    {"max_preempts", CountField<Savable>{&Savable::max_preempts}, "of one task"},
    {"tick", Number{&Savable::tick_s}, "seconds; planned again while a task waits; 0: not"},
    {"shrink", Switch{&Savable::shrink}, "shrink victims rather than stop them"},
    {"learn", Switch{&Savable::learn}, "the observed speed of a run corrects its predicted end"},
    {"trade", Switch{&Savable::trade},
     "stop the run that loses least work, and risk one deadline for a cheaper one"},
    {"ends", Switch{&Savable::spare_ends},
     "no run is stopped within protect of its predicted end either"},
    {"budget", NumberOrWordField<Savable>{&Savable::budget_gpu_h, "off"},
     "GPU-hours that the tasks of a queue may make others lose in a day, at least"},
    {"budget_share", Number{&Savable::budget_share, 1},
     "the same as a share of the GPU time that the queue used in that day"},
    {"held", CountField<Savable>{&Savable::held},
     "while tasks of one number of GPUs wait: reservations for so many (policy reserve); 0: none"},
    {"place", Words(kPlaces), "of savable tasks"},
    {"order", Words(kOrders), "of savable tasks"},
    {"rest", Words(kRests),
     "order of late tasks; level: those whose family uses its GPUs best first, until they are "
     "promoted"},
};

constexpr PolicyVariant<Savable> kSavableVariants[] = {
    {"m", [](Savable& options) { options.margin = 0.1; }},
    {"area", [](Savable& options) { options.place = Savable::Place::kArea; }},
};

// What is kept for gangs, and who may be stopped for them, is decided by a plan of the whole queue;
// numbers of GPUs, where tasks leave them open, by prices.
void serve_savable(Planning& planning, const Savable& options) {
  const auto& waiting = planning.state().waiting();
  const auto is_fixed = [&](TaskIndex task) { return !is_flexible(planning.menu(task)); };
  if (options.held == 0 || std::none_of(waiting.begin(), waiting.end(), is_fixed))
    return serve_savable_first(planning, options);
  serve_reserve(planning, {.held = options.held,
                           .price = options.p0,
                           .tick_s = options.tick_s,
                           .preemption = options.preempts(),
                           .protect_s = options.protect_s,
                           .most_stops = options.max_preempts,
                           .budget_gpu_h = options.budget_gpu_h,
                           .budget_share = options.budget_share});
}

PolicyKind savable(std::string_view name, const Savable& preset) {
  return kind_of<Savable>({.name = name,
                           .family = "savable-first",
                           .serve = serve_savable,
                           .variants = kSavableVariants,
                           .options = kSavableOptions,
                           .preset = preset,
                           .preempts = [](const Savable& options) { return options.preempts(); },
                           .reserves = [](const Savable& options) { return options.held > 0; },
                           .budget = [](const Savable& options) { return options.budget(); },
                           .stops = [](const Savable& options) { return options.stop_rules(); }});
}

Savable preempting() {
  Savable preset;
  preset.preempt = Savable::Preempt::kResumableVictims;
  return preset;
}

}  // namespace

// Without preemption some GPUs stay free for tasks that cannot wait.
PolicyKind savable_kind() {
  Savable preset;
  preset.headroom = 0.125;
  preset.calm = 0.125;
  return savable("savable", preset);
}

PolicyKind savable_p_kind() {
  return savable("savable-p", preempting());
}

PolicyKind default_kind() {
  Savable preset = preempting();
  preset.trade = true;
  preset.least_share_gpus = 1;  // nobody is starved where there are fewer than eight
  preset.learn = true;
  preset.margin.reset();
  preset.protect_s = 60;
  preset.spare_ends = true;
  preset.budget_gpu_h = 4;
  return savable("default", preset);
}

}  // namespace slackline::core
