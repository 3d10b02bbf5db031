#include "client/program.h"

#include <gtest/gtest.h>

namespace slackline::client {
namespace {

TEST(Program, IsAPluginOfKubectlByTheNameOfTheFile) {
  for (const char* name :
       {"slackline", "/usr/local/bin/slackline", "", "kubectl-slackline/slackline",
        "kubectl-slackline-old", "my-kubectl-slackline"})
    EXPECT_EQ(called_as(name), CalledAs::kSlackline) << name;
  EXPECT_EQ(called_as("kubectl-slackline"), CalledAs::kPlugin);
  EXPECT_EQ(called_as("/home/jane/bin/kubectl-slackline"), CalledAs::kPlugin);
  EXPECT_EQ(called_as("/home/jane/bin/kubectl_complete-slackline"), CalledAs::kCompletion);
  EXPECT_EQ(program_name(CalledAs::kPlugin), "kubectl slackline");
}

TEST(Program, ExamplesSayWhatPeopleType) {
  const auto plugin = [](std::string_view text) {
    return in_the_words_of(CalledAs::kPlugin, text);
  };
  EXPECT_EQ(plugin("slackline queue --watch\n  slackline queue team-a/my-job"),
            "kubectl slackline queue --watch\n  kubectl slackline queue team-a/my-job");
  EXPECT_EQ(plugin("`slackline COMMAND --help` of slackline; `slackline`"),
            "`kubectl slackline COMMAND --help` of slackline; `kubectl slackline`");
  EXPECT_EQ(plugin("source <(slackline completion bash)"),
            "source <(kubectl slackline completion bash)");
  EXPECT_EQ(plugin("--server https://slackline.example:8183\nslackline.yaml"),
            "--server https://slackline.example:8183\nslackline.yaml");
  EXPECT_EQ(in_the_words_of(CalledAs::kSlackline, "slackline queue"), "slackline queue");
}

}  // namespace
}  // namespace slackline::client
