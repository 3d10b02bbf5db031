#include "cluster/api/exec_spec.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>

#include "slackline/base/text.h"
#include "wire/format/json_copy.h"

namespace slackline::cluster {
namespace {

using wire::JsonView;

constexpr std::string_view kVersion1 = "client.authentication.k8s.io/v1";
constexpr std::string_view kExtension = "client.authentication.k8s.io/exec";

tl::unexpected<Error> wrong(std::string_view what) {
  return fail(ErrorCode::kInvalidArgument, format("exec.{}", what));
}

Result<wire::ExecCluster> read_cluster(JsonView cluster, const KubeEndpoint& endpoint) {
  wire::ExecCluster out{endpoint.server, endpoint.tls.ca_data, endpoint.tls.insecure_skip_verify,
                        ""};
  if (out.ca_data.empty() && !endpoint.tls.ca_file.empty()) {
    std::ifstream in(endpoint.tls.ca_file, std::ios::binary);
    out.ca_data.assign(std::istreambuf_iterator<char>(in), {});
  }
  for (const JsonView extension : cluster["extensions"].items()) {
    if (extension["name"].text() != kExtension) continue;
    wire::JsonWriter config;
    if (!wire::copy_json(extension["extension"], config))
      return fail(ErrorCode::kInvalidArgument,
                  format("the cluster's extension {} is nested deeper than {} levels", kExtension,
                         wire::kMaxCopyDepth));
    out.config = config.take();
  }
  return out;
}

Result<ExecInput> read_input(JsonView exec, std::string_view version) {
  const std::string_view mode = exec["interactiveMode"].text();
  if (mode == "Never") return ExecInput::kNever;
  if (mode == "Always") return ExecInput::kAlways;
  if (mode == "IfAvailable" || (mode.empty() && version != kVersion1))
    return ExecInput::kIfAvailable;
  return wrong("interactiveMode: expected Never, IfAvailable or Always");
}

}  // namespace

Result<ExecSpec> read_exec(JsonView exec, JsonView cluster, std::string_view folder,
                           const KubeEndpoint& endpoint) {
  ExecSpec spec;
  spec.command = exec["command"].text();
  if (spec.command.empty()) return wrong("command is missing");
  if (spec.command.find('/') != std::string::npos && !spec.command.starts_with('/'))
    spec.command = (std::filesystem::path(folder) / spec.command).string();
  spec.api_version = exec["apiVersion"].text();
  if (!wire::is_exec_version(spec.api_version))
    return wrong(
        format("apiVersion \"{}\": expected {} or v1beta1; let the plug-in's own tool write the "
               "kubeconfig again",
               printable(spec.api_version, 64), kVersion1));
  SLACKLINE_ASSIGN(spec.input, read_input(exec, spec.api_version));
  for (const JsonView argument : exec["args"].items())
    spec.arguments.emplace_back(argument.text());
  for (const JsonView variable : exec["env"].items()) {
    const std::string_view name = variable["name"].text();
    if (name.empty() || name.find('=') != std::string_view::npos)
      return wrong("env: a variable has no name, or one with '='");
    spec.environment.emplace_back(name, variable["value"].text());
  }
  spec.install_hint = printable(exec["installHint"].text(), 2000);
  std::optional<wire::ExecCluster> given;
  if (exec["provideClusterInfo"].is_true()) {
    SLACKLINE_ASSIGN(given, read_cluster(cluster, endpoint));
  }
  const wire::ExecCluster* known = given ? &*given : nullptr;
  spec.info = wire::encode_exec_info(spec.api_version, false, known);
  spec.info_at_terminal = wire::encode_exec_info(spec.api_version, true, known);
  return spec;
}

}  // namespace slackline::cluster
