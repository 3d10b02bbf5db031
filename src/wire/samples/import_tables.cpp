#include <algorithm>
#include <optional>

#include "slackline/base/text.h"
#include "slackline/base/visible.h"
#include "slackline/model/sample.h"
#include "wire/format/csv.h"
#include "wire/samples/import_formats.h"
#include "wire/samples/samples_csv.h"

namespace slackline::wire {
namespace {

constexpr int kGpusOfNode = 8;
constexpr std::size_t kMostTableBytes = std::size_t{64} << 20;

// "Throughput (T/s/GPU)" -> "throughputtsgpu": tables of one project spell their columns
// differently.
std::string letters_of(std::string_view heading) {
  std::string letters = to_lower(heading);
  std::erase_if(letters, [](char c) { return !is_digit(c) && (c < 'a' || c > 'z'); });
  return letters;
}

// "| a | b |" -> "a", "b"; the line between heading and rows has none.
std::vector<std::string> markdown_cells(std::string_view line) {
  if (line.find_first_not_of("|-: ") == std::string_view::npos) return {};
  line.remove_prefix(1);
  if (line.ends_with('|')) line.remove_suffix(1);
  std::vector<std::string> cells;
  for (const std::string_view cell : split(line, '|'))
    cells.emplace_back(cell);
  return cells;
}

// The rows of the Markdown tables in a text, all under the first heading, or the text as CSV.
Result<CsvTable> read_any_table(std::string_view text) {
  if (text.size() > kMostTableBytes)
    return fail(ErrorCode::kResourceExhausted, "is larger than 64 MiB");
  std::string csv;
  bool markdown = false;
  for (const std::string_view line : split(text, '\n')) {
    if (!line.starts_with('|')) continue;
    markdown = true;
    if (const auto cells = markdown_cells(line); !cells.empty()) append_csv_row(csv, cells);
  }
  return read_csv(markdown ? std::string_view(csv) : text);
}

// A row of a table, by headings.
class TableRow {
 public:
  TableRow(const CsvTable& table, const CsvRow& row) : table_(table), row_(row) {}

  std::string_view text(std::initializer_list<std::string_view> headings) const {
    for (std::size_t i = 0; i < table_.header.size(); ++i) {
      const std::string letters = letters_of(table_.header[i]);
      if (std::find(headings.begin(), headings.end(), letters) != headings.end())
        return row_.cell(i);
    }
    return {};
  }

  // Above 0, in the range; commas between thousands may be there.
  std::optional<double> number(std::initializer_list<std::string_view> headings,
                               NumberRange range) const {
    std::string digits(text(headings));
    std::erase(digits, ',');
    const auto value = parse_number(digits);
    if (!value || !range.holds(*value)) return std::nullopt;
    return *value;
  }

 private:
  const CsvTable& table_;
  const CsvRow& row_;
};

std::string type_of_table(std::string_view text) {
  const std::string name = letters_of(text);
  if (name == "h10080gb") return "H100";
  if (name == "a10080gb") return "A100-SXM-80GB";
  if (name == "a10040gb") return "A100-SXM-40GB";
  return std::string(text);
}

std::optional<Layout> layout_of(double gpus) {
  const int count = static_cast<int>(gpus);
  if (count < 1 || count != gpus) return std::nullopt;
  if (count <= kGpusOfNode) return Layout(Placement{1, count});
  if (count % kGpusOfNode != 0 || count / kGpusOfNode > 4096) return std::nullopt;
  return Layout(Placement{count / kGpusOfNode, kGpusOfNode});
}

// nullopt: `left_out` says why.
std::optional<ThroughputSample> sample_of(const TableRow& row, const SampleNames& names,
                                          std::string_view model_prefix, LeftOut& left_out) {
  constexpr NumberRange kCounts{1, 1e9};
  const auto leave_out = [&](std::string why) {
    left_out.add(std::move(why));
    return std::nullopt;
  };
  ThroughputSample sample;
  sample.model = row.text({"model"});
  if (sample.model.empty()) sample.model = names.model;
  std::string type = type_of_table(row.text({"gpu", "gputype"}));
  if (type.empty()) type = names.gpu_type;
  sample.gpu_type = GpuType(type);
  if (sample.model.empty() || type.empty())
    return leave_out("names no model or GPU type; give --model and --gpu-type");
  if (has_unprintable(sample.model) || has_unprintable(type) || type.size() > kMaxName ||
      sample.model.size() > kMaxName / 2)
    return leave_out("its model or GPU type is not a name");
  const auto gpus = row.number({"gpus", "ngpus", "worldsize"}, kCounts);
  const auto batch = row.number({"globalbatchsize", "gbs", "batch"}, kBatches);
  const auto length = row.number({"seqlent", "seqlen", "sequencelength"}, kCounts);
  const auto layout = gpus ? layout_of(*gpus) : std::nullopt;
  if (!layout) return leave_out("its GPUs are not 1 to 8, or a multiple of 8");
  if (!batch) return leave_out("gives no global batch");
  sample.layout = *layout;
  sample.batch = *batch;
  const auto tokens = row.number({"throughputts"}, kAnyRange);
  const auto tokens_of_gpu = row.number({"tpsgpu", "throughputtsgpu"}, kAnyRange);
  const auto samples = row.number({"throughputss"}, kThroughputs);
  if (tokens && length)
    sample.throughput_samples_per_s = *tokens / *length;
  else if (tokens_of_gpu && length)
    sample.throughput_samples_per_s = *tokens_of_gpu * *gpus / *length;
  else if (samples)
    sample.throughput_samples_per_s = *samples;
  if (!kThroughputs.holds(sample.throughput_samples_per_s))
    return leave_out("gives neither tokens/s and a sequence length, nor samples/s");
  if (row.text({"model"}).empty()) return sample;  // its name was given, whole
  sample.model = format("{}{}", model_prefix, sample.model);
  if (length) sample.model += format("-{:.0f}", *length);
  if (to_lower(row.text({"precision"})).find("fp8") != std::string::npos) sample.model += "-fp8";
  return sample;
}

Result<SampleImport> import_table(const SampleFile& file, const SampleNames& names,
                                  std::string_view model_prefix, std::string_view source) {
  SLACKLINE_ASSIGN(const CsvTable table, read_any_table(file.text));
  SampleImport import;
  LeftOut left_out;
  for (const CsvRow& row : table.rows) {
    auto sample = sample_of(TableRow(table, row), names, model_prefix, left_out);
    if (!sample) continue;
    sample->source = source;
    import.samples.push_back(*std::move(sample));
  }
  import.left_out = left_out.list();
  return import;
}

}  // namespace

Result<SampleImport> import_llm_foundry(const SampleFile& file, const SampleNames& names) {
  return import_table(file, names, "mpt-", "llm-foundry, 8 GPUs a node assumed");
}

Result<SampleImport> import_torchtitan(const SampleFile& file, const SampleNames& names) {
  return import_table(file, names, "", "torchtitan, 8 GPUs a node assumed");
}

}  // namespace slackline::wire
