#include "slackline/model/gpu_spec.h"

#include <algorithm>

namespace slackline {
namespace {

// From the makers' data sheets. GB200 and GB300 join 72 GPUs; a Kubernetes node has 4 of them.
// Where a sheet states sparse operations only, half of them.
constexpr GpuMaker kNv = GpuMaker::kNvidia;
constexpr GpuSpec kSpecs[] = {
    {"A10", kNv, 24, 125, 0.6, 150, 1},
    {"A100", kNv, 80, 312, 2.039, 400, 8, "A100-SXM A100-SXM-80GB A100-SXM4-80GB"},
    {"A100-PCIe-40GB", kNv, 40, 312, 1.555, 250, 2, "A100-PCIe"},
    {"A100-PCIe-80GB", kNv, 80, 312, 1.935, 300, 2},
    {"A100-SXM-40GB", kNv, 40, 312, 1.555, 400, 8, "A100-SXM4-40GB"},
    {"A10G", kNv, 24, 70, 0.6, 150, 1},
    {"A30", kNv, 24, 165, 0.933, 165, 2},
    {"A40", kNv, 48, 150, 0.696, 300, 2},
    {"B200", kNv, 180, 2250, 8, 1000, 8, "B200-SXM"},
    {"B300", kNv, 270, 2250, 8, 1100, 8, "B300-SXM"},
    {"GB200", kNv, 186, 2500, 8, 1200, 72},
    {"GB300", kNv, 279, 2500, 8, 1400, 72},
    {"GH200", kNv, 96, 989, 4, 700, 1},
    {"Gaudi2", GpuMaker::kIntel, 96, 432, 2.45, 600, 8, "Gaudi-2 HL-225"},
    {"Gaudi3", GpuMaker::kIntel, 128, 1835, 3.7, 900, 8, "Gaudi-3 HL-325"},
    {"H100", kNv, 80, 989, 3.35, 700, 8, "H100-SXM H100-SXM-80GB H100-SXM5"},
    {"H100-NVL", kNv, 94, 835, 3.9, 400, 2},
    {"H100-PCIe", kNv, 80, 756, 2.0, 350, 2},
    {"H100-SXM-96GB", kNv, 96, 989, 2.4, 500, 8},
    {"H200", kNv, 141, 989, 4.8, 700, 8, "H200-SXM"},
    {"H200-NVL", kNv, 141, 835, 4.8, 600, 4},
    {"K80", kNv, 12, 4.1, 0.24, 150, 1},
    {"L4", kNv, 24, 121, 0.3, 72, 1},
    {"L40", kNv, 48, 181, 0.864, 300, 1},
    {"L40S", kNv, 48, 362, 0.864, 350, 1},
    {"MI300X", GpuMaker::kAmd, 192, 1307, 5.3, 750, 8},
    {"MI325X", GpuMaker::kAmd, 256, 1307, 6, 1000, 8},
    {"MI350X", GpuMaker::kAmd, 288, 2307, 8, 1000, 8},
    {"MI355X", GpuMaker::kAmd, 288, 2516, 8, 1400, 8},
    {"P100", kNv, 16, 21.2, 0.732, 300, 1},
    {"RTX6000Ada", kNv, 48, 364, 0.96, 300, 1, "RTX-6000-Ada"},
    {"RTXA5000", kNv, 24, 111, 0.768, 230, 2, "RTX-A5000"},
    {"RTXA6000", kNv, 48, 155, 0.768, 300, 2, "RTX-A6000"},
    {"RTXPRO6000", kNv, 96, 504, 1.597, 600, 1, "RTX-PRO-6000"},
    {"T4", kNv, 16, 65, 0.32, 70, 1},
    {"V100", kNv, 16, 125, 0.9, 300, 8},
};

// ASCII letters in any case; without a copy, because predictions ask often.
bool is_same(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](char x, char y) { return lower(x) == lower(y); });
}

bool is_listed(std::string_view names, std::string_view name) {
  while (!names.empty()) {
    const std::size_t end = std::min(names.find(' '), names.size());
    if (is_same(names.substr(0, end), name)) return true;
    names.remove_prefix(std::min(end + 1, names.size()));
  }
  return false;
}

}  // namespace

std::string_view to_string(GpuMaker maker) {
  switch (maker) {
    case GpuMaker::kAmd:
      return "AMD";
    case GpuMaker::kIntel:
      return "Intel";
    case GpuMaker::kNvidia:
      break;
  }
  return "NVIDIA";
}

std::span<const GpuSpec> gpu_specs() {
  return kSpecs;
}

const GpuSpec* find_gpu_spec(std::string_view name) {
  if (name.empty()) return nullptr;
  for (const GpuSpec& spec : kSpecs)
    if (is_same(spec.name, name) || is_listed(spec.also, name)) return &spec;
  return nullptr;
}

}  // namespace slackline
