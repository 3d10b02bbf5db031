// What `slackline fit` reports, one row per model and GPU type, as JSON and as a table. Errors are
// absolute percentage errors of the throughput, in percent.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace slackline::wire {

struct FitReportRow {
  std::string model;
  std::string gpu_type;
  int points = 0;
  std::string kind;  // empty: nothing could be fitted
  std::optional<double> in_sample_mape;
  std::optional<double> held_out_mape;
  std::optional<double> held_out_median_ape;
  std::optional<double> held_out_p90_ape;
  std::optional<double> noise_floor;         // of measurements that were repeated
  std::optional<double> chosen_within_5pct;  // percent of choices within 5 % of the best layout
  int model_parallel = 1;                    // GPUs of a replica
  bool model_parallel_derived = false;       // nobody stated it
  std::string held_out_by{};                 // "placement" or "measurement", of loo only
};

// A held-out row far off its prediction, for people to look at.
struct FitOutlier {
  std::string model;
  std::string gpu_type;
  double batch = 0;
  std::string placement;
  double measured = 0;   // samples per second
  double predicted = 0;  // without it
  std::string source;
};

// {"models":[{"model", "gpu_type", "points", "kind", "in_sample_mape", ...}], "outliers":[{"model",
// "gpu_type", "batch", "placement", "measured", "predicted", "source"}]}, null where absent; one
// row a line.
std::string fit_report_json(const std::vector<FitReportRow>& rows,
                            const std::vector<FitOutlier>& outliers = {});

std::string fit_report_table(const std::vector<FitReportRow>& rows);

}  // namespace slackline::wire
