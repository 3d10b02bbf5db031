#include "slackline/core/planning/gpu_types.h"

#include <algorithm>

#include "slackline/base/text.h"

namespace slackline::core {
namespace {

// "H100-PCIe" of "H100".
bool is_variant(std::string_view type, std::string_view of) {
  return type.size() > of.size() && type.starts_with(of) && type[of.size()] == '-';
}

}  // namespace

GpuType resolved_type(const GpuType& written, const GpuCatalog& catalog) {
  if (catalog.type(written) != nullptr) return written;
  const std::string lower = to_lower(written.str());
  for (const GpuTypeRule& rule : catalog.types)
    if (to_lower(rule.alias.str()) == lower) return rule.alias;
  for (const GpuTypeRule& rule : catalog.types)
    for (const std::string& pattern : rule.label_values)
      if (glob_matches(pattern, written.str())) return rule.alias;
  return written;
}

AcceptedTypes::AcceptedTypes(const TaskIntent& intent, const GpuCatalog& catalog,
                             std::string_view resource)
    : catalog_(!resource.empty() && catalog.is_whole(resource) ? &catalog : nullptr) {
  if (!intent.any_gpu_type) accept(intent.gpu_types, catalog);
}

AcceptedTypes::AcceptedTypes(const GpuType& written, const GpuCatalog& catalog) {
  accept({written}, catalog);
}

void AcceptedTypes::accept(const std::vector<GpuType>& written, const GpuCatalog& catalog) {
  for (const GpuType& word : written) {
    GpuType alias = resolved_type(word, catalog);
    if (std::find(types_.begin(), types_.end(), alias) == types_.end())
      types_.push_back(std::move(alias));
  }
  for (std::size_t i = 0; i < types_.size(); ++i)
    for (const GpuTypeRule& rule : catalog.types)
      if (is_variant(rule.alias.str(), types_[i].str()) && !catalog.is_part(rule.alias))
        variants_.emplace_back(rule.alias, static_cast<int>(i));
}

std::optional<int> AcceptedTypes::preference(const GpuType& type) const {
  if (types_.empty())
    return catalog_ != nullptr && catalog_->is_part(type) ? std::nullopt : std::optional(0);
  for (std::size_t i = 0; i < types_.size(); ++i)
    if (types_[i] == type) return static_cast<int>(i);
  for (const auto& [variant, place] : variants_)
    if (variant == type) return place;
  return std::nullopt;
}

std::string primary_gpu_resource(const Resources& request) {
  const ResourceAmount* best = nullptr;
  for (const ResourceAmount& amount : request.gpus)
    if (amount.count > 0 && (best == nullptr || amount.count > best->count)) best = &amount;
  return best == nullptr ? std::string{} : best->resource;
}

std::int64_t primary_gpu_count(const Resources& request) {
  return request.gpu_count(primary_gpu_resource(request));
}

bool wants_self_accounted(const Resources& request, const GpuCatalog& catalog) {
  return std::any_of(request.gpus.begin(), request.gpus.end(), [&](const ResourceAmount& amount) {
    const GpuResourceRule* rule = catalog.resource(amount.resource);
    return amount.count > 0 && rule != nullptr && rule->self_accounted;
  });
}

}  // namespace slackline::core
