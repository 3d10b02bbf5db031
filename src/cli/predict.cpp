// `slackline predict`: how fast a model would train, on one placement, on every shape of a
// platform, or for each row of a file; always with the interval in which 9 of 10 runs are expected.
#include <cmath>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/numbers.h"
#include "cli/text_files.h"
#include "config/load.h"
#include "control/learn/profiles.h"
#include "control/query/shape_forecast.h"
#include "slackline/base/text.h"
#include "slackline/core/throughput/model_parallel.h"
#include "wire/format/text_table.h"
#include "wire/samples/profile_codec.h"
#include "wire/samples/samples_csv.h"

namespace slackline::cli {
namespace {

constexpr const char* kPredictExample =
    "Examples:\n"
    "  slackline predict --model resnet50 --batch 256 --gpu-type A100 --platform 4x8\n"
    "  slackline predict --profile profile.json --model bert --batch 64 --gpu-type T4 "
    "--placement 4+2+1\n"
    "  slackline predict --profile profile.json --samples questions.csv --out answers.csv\n";

struct PredictCommand {
  std::vector<std::string> profiles;
  std::string model;
  double batch = 0;
  std::string gpu_type;
  std::string placement;
  std::string platform = "4x4";
  std::optional<double> iterations;
  int model_parallel = 0;
  std::optional<double> tokens_per_sample, tokens;
  double theta = core::kDefaultTheta;
  std::string samples, out;
};

// Those given, else the built-in ones.
Result<WorkloadProfiles> load(const PredictCommand& command) {
  if (command.profiles.empty()) return control::load_profiles({});
  std::vector<ProfileEntry> entries;
  for (const std::string& file : command.profiles) {
    SLACKLINE_ASSIGN(const std::string text, config::read_text_file(file));
    SLACKLINE_ASSIGN(const auto read, wire::read_profile(text, file));
    SLACKLINE_TRY(control::check_entries(read, file));
    entries.insert(entries.end(), read.begin(), read.end());
  }
  return WorkloadProfiles(std::move(entries));
}

std::string number(double value) {
  return value < 100 ? format("{:.3g}", value) : format("{:.0f}", value);
}

std::string source_of(const core::Prediction& prediction) {
  return std::string(core::to_string(prediction.source)) +
         (prediction.extrapolated ? ", extrapolated" : "");
}

// Tokens of the run as iterations.
std::optional<double> iterations_of(const PredictCommand& command) {
  if (command.iterations || !command.tokens || !command.tokens_per_sample)
    return command.iterations;
  return std::ceil(*command.tokens / (command.batch * *command.tokens_per_sample));
}

// Speeds are samples per second; tokens per second where a sample has this many.
std::vector<std::string> cells_of(const control::LayoutForecast& forecast,
                                  const PredictCommand& command) {
  const core::Prediction& speed = forecast.speed;
  const double tokens = command.tokens_per_sample.value_or(1);
  return {forecast.layout.str(),
          std::to_string(forecast.layout.spread().gpus),
          number(tokens * speed.throughput_samples_per_s),
          number(tokens * speed.low),
          number(tokens * speed.high),
          forecast.lat_s ? number(*forecast.lat_s) : "",
          source_of(speed)};
}

std::string speed_column(const PredictCommand& command) {
  return command.tokens_per_sample ? ">TOKENS/S" : ">SAMPLES/S";
}

Status predict_one(const core::Predictor& predictor, const control::WorkloadQuestion& question,
                   const PredictCommand& command) {
  SLACKLINE_ASSIGN(const Layout layout, parse_layout(command.placement));
  const auto forecast = control::forecast_layout(predictor, question, layout);
  if (!forecast) return fail(control::why_no_forecast(predictor, question, layout));
  wire::TextTable table(
      {"PLACEMENT", ">GPUS", speed_column(command), ">LOW", ">HIGH", ">SECONDS", "SOURCE"});
  table.add(cells_of(*forecast, command));
  std::fputs(table.str().c_str(), stdout);
  return {};
}

Status predict_shapes(const core::Predictor& predictor, const control::WorkloadQuestion& question,
                      const PredictCommand& command) {
  SLACKLINE_ASSIGN(const Placement size, parse_placement(command.platform));
  const core::Pool platform{question.gpu_type, "", size.d_node, size.d_gpn, 1.0};
  const auto rows = control::forecast_shapes(predictor, question, platform, command.theta);
  if (rows.empty()) return fail(control::why_no_forecast(predictor, question, Layout()));
  wire::TextTable table({"SHAPE", ">GPUS", speed_column(command), ">LOW", ">HIGH", ">SECONDS",
                         "SOURCE", ">COST", ">CER"});
  for (const control::ShapeForecast& row : rows) {
    std::vector<std::string> cells = cells_of(row.forecast, command);
    cells.insert(cells.end(), {format("{:.3f}", row.cost), number(row.cer)});
    table.add(std::move(cells));
  }
  std::fputs(table.str().c_str(), stdout);
  return {};
}

using Replicas = std::map<std::pair<std::string, GpuType>, core::ModelParallel>;

// The GPUs of a replica by model and GPU type, for the questions that do not state them.
Replicas replicas_of(const std::vector<ThroughputSample>& questions) {
  std::map<std::pair<std::string, GpuType>, std::vector<ThroughputSample>> pairs;
  for (const ThroughputSample& question : questions)
    pairs[{question.model, question.gpu_type}].push_back(question);
  Replicas replicas;
  for (const auto& [key, asked] : pairs)
    replicas[key] = core::model_parallel_of(asked);
  return replicas;
}

std::optional<core::Prediction> answer(const core::Predictor& predictor,
                                       const ThroughputSample& question, const Replicas& replicas) {
  auto model = predictor.prepare(question.model, question.batch, question.gpu_type);
  if (!model) return std::nullopt;
  const int derived = replicas.at({question.model, question.gpu_type}).gpus;
  if (question.model_parallel > 0)
    model->set_model_parallel(question.model_parallel);
  else if (derived > model->model_parallel())
    model->set_model_parallel(derived);
  return model->predict(question.layout.spread());
}

Status predict_file(const core::Predictor& predictor, const PredictCommand& command) {
  SLACKLINE_ASSIGN(const std::string text, config::read_text_file(command.samples));
  const auto table = wire::read_csv(text);
  if (!table) return fail(table.error().with_context(command.samples));
  const auto questions = wire::read_samples(*table, wire::SampleRows::kQuestions);
  if (!questions) return fail(questions.error().with_context(command.samples));
  const Replicas replicas = replicas_of(*questions);
  std::vector<std::vector<std::string>> cells;
  std::size_t unknown = 0;
  for (const ThroughputSample& question : *questions) {
    const auto speed = answer(predictor, question, replicas);
    unknown += speed ? 0 : 1;
    const auto exact = [](double value) { return format("{:.8g}", value); };
    cells.push_back(speed ? std::vector<std::string>{exact(speed->throughput_samples_per_s),
                                                     exact(speed->low), exact(speed->high),
                                                     std::string(core::to_string(speed->source))}
                          : std::vector<std::string>{"", "", "", "unknown"});
  }
  SLACKLINE_TRY(write_text_file(
      command.out, wire::write_csv_with(*table, {"predicted", "low", "high", "source"}, cells)));
  if (unknown > 0)
    std::fprintf(stderr,
                 "%zu of %zu rows have no prediction (source \"unknown\"): the profile cannot "
                 "predict their model on their GPU type\n",
                 unknown, cells.size());
  return {};
}

Status predict(const PredictCommand& command) {
  SLACKLINE_ASSIGN(WorkloadProfiles profiles, load(command));
  const core::Predictor predictor(std::move(profiles));
  if (!command.samples.empty()) return predict_file(predictor, command);
  const control::WorkloadQuestion question{command.model, command.batch, GpuType(command.gpu_type),
                                           iterations_of(command), command.model_parallel};
  return command.placement.empty() ? predict_shapes(predictor, question, command)
                                   : predict_one(predictor, question, command);
}

std::string check_layout(const std::string& text) {
  const auto layout = parse_layout(text);
  return layout ? "" : layout.error().message;
}

std::string check_shape(const std::string& text) {
  // Each shape within these nodes and GPUs is predicted and listed.
  constexpr int kMostShapes = 65536;
  const auto shape = parse_placement(text);
  if (!shape) return shape.error().message;
  if (shape->d_node <= kMostShapes / shape->d_gpn) return {};
  return format("\"{}\" has {} shapes; at most {} are listed, as of 256x256", text,
                std::int64_t{shape->d_node} * shape->d_gpn, kMostShapes);
}

}  // namespace

void add_predict(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<PredictCommand>();
  CLI::App* command = app.add_subcommand(
      "predict",
      "Predict how fast a model trains: on one placement, every shape, or a file's rows");
  command->footer(kPredictExample);
  command->add_option("--profile", options->profiles, "Profiles, as fit writes them [built in]")
      ->check(CLI::ExistingFile);
  CLI::Option* model = command->add_option("--model", options->model, "The model");
  CLI::Option* batch =
      command->add_option("--batch", options->batch, "Global batch, of all GPUs together")
          ->check(in_range(1, 1e9));
  CLI::Option* type = command->add_option("--gpu-type", options->gpu_type, "The GPU type");
  model->needs(batch)->needs(type);
  command
      ->add_option("--placement", options->placement,
                   "Nodes x GPUs (2x4), or each node's GPUs (4+2+1)")
      ->check(check_layout);
  command->add_option("--platform", options->platform, "Every shape on this many nodes x GPUs")
      ->check(check_shape)
      ->capture_default_str();
  command
      ->add_option("--iterations", options->iterations,
                   "Iterations of the run; also predicts its seconds from start to finish")
      ->check(in_range(0, 1e15));
  command
      ->add_option("--model-parallel", options->model_parallel,
                   "GPUs that share one copy of the model (tensor x pipeline x context parallel) "
                   "[as the profile has it]")
      ->check(in_range(1, kMostModelParallel));
  CLI::Option* per_sample =
      command
          ->add_option("--tokens-per-sample", options->tokens_per_sample,
                       "Tokens of a sample, the sequence length: speeds are tokens per second")
          ->check(in_range(1, 1e9));
  command
      ->add_option("--tokens", options->tokens,
                   "Tokens that the run trains on, instead of --iterations")
      ->check(in_range(1, 1e15))
      ->needs(per_sample);
  command->add_option("--theta", options->theta, "Cost of spreading over nodes (000 eq 10)")
      ->check(in_range(0, 1e6))
      ->capture_default_str();
  CLI::Option* out = command->add_option(
      "--out", options->out, "The rows of --samples with predicted, low, high and source appended");
  CLI::Option* samples =
      command
          ->add_option("--samples", options->samples,
                       "Predict each row of a CSV file: model,gpu_type,batch,placement")
          ->check(CLI::ExistingFile)
          ->needs(out)
          ->excludes(model);
  out->needs(samples);
  command->callback([&exit_code, options] {
    if (options->model.empty() && options->samples.empty())
      throw CLI::RequiredError("--model or --samples");
    const Status done = predict(*options);
    exit_code = done ? 0 : report_unanswered(done.error());
  });
}

}  // namespace slackline::cli
