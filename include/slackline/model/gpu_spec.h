// GpuSpec: what makers publish of a GPU: the facts by which types compare that nobody measured
// together. Names are those of GpuCatalog's types and what public tables call the same board.
#pragma once

#include <span>
#include <string_view>

namespace slackline {

enum class GpuMaker { kNvidia, kAmd, kIntel };
std::string_view to_string(GpuMaker maker);  // "NVIDIA", "AMD", "Intel"

struct GpuSpec {
  std::string_view name;  // the alias of the catalogue
  GpuMaker maker = GpuMaker::kNvidia;
  double memory_gb = 0;
  double dense_tflops = 0;    // 16-bit matrix operations without sparsity, 10^12 a second
  double bandwidth_tb_s = 0;  // of its memory
  double board_w = 0;         // the most power that it may draw
  int link_gpus = 1;          // GPUs that NVLink, Infinity Fabric or the like joins; 1: PCIe alone
  std::string_view also{};    // other names, separated by spaces
};

// By name.
std::span<const GpuSpec> gpu_specs();

// By name or another name of it, in any case; nullptr: not known, or a part of a GPU.
const GpuSpec* find_gpu_spec(std::string_view name);

}  // namespace slackline
