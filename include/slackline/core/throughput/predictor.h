// Predictor: the speed of models, from profiles and measured samples.
//
// The best source available answers; PredictionSource (core/throughput/prediction.h) lists them,
// best first. A model without coefficients on a GPU type borrows from others, never by one factor
// for all models:
//   similar  its entry on another type (the one with most points, then the least name) times
//            measured / predicted of this model's samples on the type asked for, at the batch of
//            one GPU nearest to the one asked for
//   similar-type  an entry on another type, times how both types compare: as measured with the
//            models that have entries on both, those of its family above others, drawn towards what
//            the data sheets say (model/gpu_spec.h). Of several types the one whose ratio is known
//            best
//   family   where the model has no entry at all: an entry of another model on the type asked for
//
// Of which other model: of its declared family (by the task, else by its description) the one of
// median speed; without such entries the one whose description is nearest, times the ratio of the
// operations per sample where both state them; and only where nothing is declared, the one of
// median speed among the models whose names begin with the same letters. Workload types for
// inference borrow from others for inference.
//
// Immutable: safe to share between threads.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "slackline/core/throughput/prediction.h"
#include "slackline/model/model_record.h"
#include "slackline/model/placement.h"
#include "slackline/model/sample.h"
#include "slackline/model/task_intent.h"
#include "slackline/model/workload.h"

namespace slackline::core {

// The letters that a model's name begins with: "resnet50" -> "resnet", "gpt2-xl" -> "gpt".
std::string_view family_of(std::string_view model);

// The entry of the model on this GPU, under this name of the GPU or another one ("A100",
// "A100-SXM-80GB"); nullptr: there is none whose coefficients can be used.
const ProfileEntry* entry_of(const WorkloadProfiles& profiles, std::string_view model,
                             const GpuType& gpu_type);

class Predictor {
 public:
  // Samples that are not positive and finite are ignored. The last descriptor of a model counts.
  explicit Predictor(WorkloadProfiles profiles, std::span<const ThroughputSample> samples = {},
                     std::span<const ModelDescriptor> descriptors = {});

  // nullopt: no source covers this model on this GPU type. `family`: as the task declares it; may
  // be empty.
  std::optional<PreparedModel> prepare(std::string_view model, double batch,
                                       const GpuType& gpu_type, std::string_view family = {}) const;
  // For the workload type, batch and family that the task names; nullopt also if it names none.
  std::optional<PreparedModel> prepare(const TaskIntent& intent, const GpuType& gpu_type) const;
  // Nothing is declared of its model: a speed of source kFamily is one of models whose names begin
  // with the same letters, and goes behind what people say.
  bool goes_by_letters(const TaskIntent& intent) const;

  // One prediction; for many shapes, prepare first. `model_parallel` 0: as the coefficients have
  // it. nullopt also where PreparedModel::predict returns it.
  std::optional<Prediction> predict(std::string_view model, double batch, const GpuType& gpu_type,
                                    const Layout& layout, int model_parallel = 0) const;

  const WorkloadProfiles& profiles() const { return profiles_; }

 private:
  struct Measured {
    std::string model;
    GpuType gpu_type;
    double batch = 0;
    Spread spread;
    double throughput_samples_per_s = 0;
  };

  std::span<const Measured> measured_of(std::string_view model, const GpuType& gpu_type) const;
  std::optional<double> similar_ratio(const ProfileEntry& other, const GpuType& gpu_type,
                                      double batch) const;
  std::optional<PreparedModel> borrowed(std::string_view model, double batch,
                                        const GpuType& gpu_type) const;
  std::optional<PreparedModel> of_similar_type(std::string_view model, double batch,
                                               const GpuType& gpu_type) const;
  std::optional<PreparedModel> of_another(std::string_view model, double batch,
                                          const GpuType& gpu_type, std::string_view family) const;
  std::optional<PreparedModel> of_family(const std::string& family, double batch,
                                         const GpuType& gpu_type) const;
  std::optional<PreparedModel> of_nearest(const ModelDescriptor& model, double batch,
                                          const GpuType& gpu_type) const;

  WorkloadProfiles profiles_;
  std::map<std::string, ModelDescriptor, std::less<>> descriptors_;
  std::vector<Measured> measured_;  // by (model, type, batch, spread), each once
};

}  // namespace slackline::core
