// How the speeds of two GPU types compare, for models that were measured on one of them only.
#pragma once

#include <optional>
#include <string_view>

#include "slackline/model/workload.h"

namespace slackline::core {

// A ratio as a normal distribution of its logarithm.
struct TypeRatio {
  double log_ratio = 0;  // of the speed on the type asked for to that on the known one
  double variance = 0;
};

// What both GPUs' data sheets say: (TFLOPS ratio)^0.4 x (bandwidth ratio)^0.2 x (power ratio)^0.4,
// as uncertain as the two are far apart, more so between makers. nullopt: one is not in the
// catalogue, or they are too far apart.
std::optional<TypeRatio> catalog_ratio(const GpuType& to, const GpuType& from);

// The same drawn towards the ratios of the models that have entries on both types, those of
// `family` above others: the more of them, the more. nullopt: neither is known.
std::optional<TypeRatio> type_ratio(const WorkloadProfiles& profiles, const GpuType& to,
                                    const GpuType& from, std::string_view family, double batch);

// Whether both names mean one GPU ("H100", "H100-SXM").
bool same_gpu(const GpuType& a, const GpuType& b);

// The declared family of the entry, else the letters of its model's name; training and inference
// apart.
std::string family_name(std::string_view model, std::string_view declared);
std::string family_name(const ProfileEntry& entry);

}  // namespace slackline::core
