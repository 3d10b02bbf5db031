#include "cluster/api/kubeconfig.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <stdlib.h>

#include "cluster/api/kube_token.h"
#include "slackline/base/text.h"
#include "support/fake_clock.h"
#include "support/temporary_folder.h"

namespace slackline::cluster {
namespace {

// A kubeconfig whose cluster and user say this, in YAML flow style.
std::string kubeconfig(const std::string& cluster, const std::string& user) {
  return format(
      "apiVersion: v1\nkind: Config\ncurrent-context: lab\n"
      "contexts:\n- name: other\n  context: {{cluster: gone, user: gone}}\n"
      "- name: lab\n  context: {{cluster: lab, user: me}}\n"
      "clusters:\n- name: lab\n  cluster: {{server: 'https://lab:6443/', {}}}\n"
      "users:\n- name: me\n  user: {{{}}}\n",
      cluster, user);
}

Result<KubeEndpoint> parse(const std::string& cluster, const std::string& user) {
  return parse_kubeconfig({{kubeconfig(cluster, user), "/etc/lab"}}, "");
}

TEST(Kubeconfig, ReadsServerAuthorityAndToken) {
  const auto endpoint = parse("certificate-authority: pki/ca.crt", "token: abc");
  ASSERT_TRUE(endpoint) << endpoint.error().message;
  EXPECT_EQ(endpoint->server, "https://lab:6443");
  EXPECT_EQ(endpoint->tls.ca_file, "/etc/lab/pki/ca.crt");
  EXPECT_EQ(endpoint->token, "abc");
  EXPECT_TRUE(endpoint->warnings.empty());
}

TEST(Kubeconfig, ReadsDataInBase64) {
  const auto endpoint = parse("certificate-authority-data: Q0EgZGF0YQ==",
                              "client-certificate-data: Q0VSVA==, client-key-data: S0VZ");
  ASSERT_TRUE(endpoint) << endpoint.error().message;
  EXPECT_EQ(endpoint->tls.ca_data, "CA data");
  EXPECT_EQ(endpoint->tls.certificate_data, "CERT");
  EXPECT_EQ(endpoint->tls.key_data, "KEY");
}

TEST(Kubeconfig, ReadsFilesRelativeToItsFolder) {
  const auto endpoint =
      parse("certificate-authority: /ca.crt",
            "tokenFile: token, token: stale, client-certificate: me.crt, client-key: me.key");
  ASSERT_TRUE(endpoint) << endpoint.error().message;
  EXPECT_EQ(endpoint->tls.ca_file, "/ca.crt");
  EXPECT_EQ(endpoint->token_file, "/etc/lab/token");
  EXPECT_EQ(endpoint->token, "stale") << "until the file can be read";
  EXPECT_EQ(endpoint->tls.certificate_file, "/etc/lab/me.crt");
  EXPECT_EQ(endpoint->tls.key_file, "/etc/lab/me.key");
}

TEST(Kubeconfig, SkippingVerificationIsHonouredWithAWarning) {
  const auto endpoint = parse("insecure-skip-tls-verify: true", "token: abc");
  ASSERT_TRUE(endpoint);
  EXPECT_TRUE(endpoint->tls.insecure_skip_verify);
  ASSERT_EQ(endpoint->warnings.size(), 1u);
}

TEST(Kubeconfig, OverPlainHttpToAnotherMachineNobodySaysWhoAsks) {
  const auto to = [](const std::string& server) {
    std::string text = kubeconfig("", "token: t, client-certificate: c, client-key: k");
    const std::string https = "https://lab:6443/";
    text.replace(text.find(https), https.size(), server);
    return *parse_kubeconfig({{text, ""}}, "");
  };
  const KubeEndpoint open = to("http://lab:8080");
  EXPECT_EQ(open.token, "");
  EXPECT_EQ(open.tls.certificate_file, "");
  EXPECT_EQ(open.warnings.size(), 1u);
  const KubeEndpoint here = to("http://127.0.0.1:8001");
  EXPECT_EQ(here.token, "t");
  EXPECT_TRUE(here.warnings.empty());
}

TEST(Kubeconfig, AFileWithoutADocumentSaysNothing) {
  const KubeconfigFile full = {kubeconfig("", "token: t"), "/b", "b"};
  for (const char* empty : {"", "\n \n", "---\n# mine\n"})
    EXPECT_EQ(parse_kubeconfig({{empty, "/a", "a"}, full}, "")->token, "t") << empty;
  EXPECT_NE(parse_kubeconfig({{"", ""}}, "").error().message.find("current-context is not set"),
            std::string::npos);
}

TEST(Kubeconfig, ReadsACredentialPlugin) {
  const std::string beta = "apiVersion: client.authentication.k8s.io/v1beta1";
  const auto named = parse("", "exec: {command: aws, args: [eks, get-token], " + beta +
                                   ", env: [{name: A, value: b}], installHint: get it}");
  ASSERT_TRUE(named) << named.error().message;
  ASSERT_TRUE(named->exec);
  EXPECT_EQ(named->exec->command, "aws") << "it is looked for in PATH";
  EXPECT_EQ(named->exec->arguments, (std::vector<std::string>{"eks", "get-token"}));
  EXPECT_EQ(named->exec->environment[0].second, "b");
  EXPECT_EQ(named->exec->install_hint, "get it");
  EXPECT_EQ(named->exec->input, ExecInput::kIfAvailable);
  EXPECT_EQ(named->exec->info.find("lab:6443"), std::string::npos) << "it was not asked for";
  const auto relative = parse("", "exec: {command: bin/me, interactiveMode: Never, " + beta + "}");
  EXPECT_EQ(relative->exec->command, "/etc/lab/bin/me");
  EXPECT_EQ(relative->exec->input, ExecInput::kNever);
  const auto beside = parse("", "token: t, exec: {command: aws, " + beta + "}");
  EXPECT_FALSE(beside->exec) << "a token goes before it";
}

TEST(Kubeconfig, RefusesWhatItCannotDoWithARemedy) {
  struct Case {
    std::string cluster;
    std::string user;
    std::string says;
  };
  const Case cases[] = {
      {"", "exec: {command: aws}", "user 'me': exec.apiVersion"},
      {"", "exec: {apiVersion: client.authentication.k8s.io/v1beta1}", "exec.command is missing"},
      {"", "exec: {command: aws, apiVersion: client.authentication.k8s.io/v1alpha1}", "v1beta1"},
      {"", "exec: {command: aws, apiVersion: client.authentication.k8s.io/v1}",
       "exec.interactiveMode"},
      {"",
       "exec: {command: a, apiVersion: client.authentication.k8s.io/v1beta1, env: [{name: a=b}]}",
       "exec.env"},
      {"", "auth-provider: {name: gcp}", "kubectl create token"},
      {"", "username: me, password: secret", "kubectl create token"},
      {"", "token: t, as: admin", "impersonation"},
      {"proxy-url: 'http://p'", "token: t", "HTTPS_PROXY"},
      {"tls-server-name: x", "token: t", "tls-server-name"},
      {"", "client-certificate: me.crt", "without the other"},
      {"certificate-authority-data: '%%%'", "token: t", "base64"},
  };
  for (const Case& one : cases) {
    const auto endpoint = parse(one.cluster, one.user);
    ASSERT_FALSE(endpoint) << one.user;
    EXPECT_NE(endpoint.error().message.find(one.says), std::string::npos)
        << endpoint.error().message;
    EXPECT_EQ(endpoint.error().message.find("secret"), std::string::npos);
  }
}

TEST(Kubeconfig, NamesTheEntryThatIsMissing) {
  const std::string text = kubeconfig("", "token: t");
  const auto unknown = parse_kubeconfig({{text, ""}}, "nowhere");
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().message.find("'nowhere'"), std::string::npos);
  const auto gone = parse_kubeconfig({{text, ""}}, "other");
  ASSERT_FALSE(gone);
  EXPECT_NE(gone.error().message.find("clusters: there is no entry named 'gone'"),
            std::string::npos);
  EXPECT_FALSE(parse_kubeconfig({{"kind: Config\n", ""}}, ""));
  EXPECT_FALSE(parse_kubeconfig({{"{", ""}}, ""));
}

TEST(Kubeconfig, KnowsTheNamespaceOfTheContext) {
  std::string text = kubeconfig("", "token: t");
  EXPECT_EQ(parse_kubeconfig({{text, ""}}, "")->ns, "");
  const std::string context = "{cluster: lab, user: me}";
  text.replace(text.find(context), context.size(), "{cluster: lab, user: me, namespace: team-a}");
  EXPECT_EQ(parse_kubeconfig({{text, ""}}, "")->ns, "team-a");
}

// As kubectl merges them: nothing of a second entry of the same name is mixed in.
TEST(Kubeconfig, OfSeveralFilesTheFirstThatHasAnEntryGivesIt) {
  const std::string first =
      "current-context: ''\nusers:\n- {name: me, user: {tokenFile: mine}}\n"
      "clusters:\n- {name: lab, cluster: {server: 'https://near:1'}}\n";
  const std::string second = kubeconfig("certificate-authority: ca.crt", "token: theirs");
  const auto near = parse_kubeconfig({{first, "/a", "a"}, {second, "/b", "b"}}, "");
  ASSERT_TRUE(near) << near.error().message;
  EXPECT_EQ(near->server, "https://near:1");
  EXPECT_EQ(near->tls.ca_file, "") << "the other entry's";
  EXPECT_EQ(near->token_file, "/a/mine");
  EXPECT_EQ(near->token, "");
  const auto far = parse_kubeconfig({{second, "/b", "b"}, {first, "/a", "a"}}, "");
  EXPECT_EQ(far->server, "https://lab:6443");
  EXPECT_EQ(far->tls.ca_file, "/b/ca.crt");
  EXPECT_EQ(far->token, "theirs");
  const auto broken = parse_kubeconfig({{second, "/b", "b"}, {"{", "/c", "/c/config"}}, "");
  ASSERT_FALSE(broken);
  EXPECT_TRUE(broken.error().message.starts_with("/c/config: ")) << broken.error().message;
}

class InFolder : public testing::Test {
 protected:
  void TearDown() override {
    unsetenv("KUBERNETES_SERVICE_HOST");
    unsetenv("KUBERNETES_SERVICE_PORT");
  }
  const test::TemporaryFolder temporary_;
  const std::filesystem::path folder_ = temporary_.path();
};

using InCluster = InFolder;

TEST_F(InCluster, PeopleUseTheirKubeconfigFirst) {
  setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1", 1);
  setenv("KUBERNETES_SERVICE_PORT", "443", 1);
  const std::filesystem::path file = folder_ / "config";
  std::ofstream(file) << kubeconfig("", "token: t");
  std::ofstream(folder_ / "namespace") << "team-b";
  setenv("KUBECONFIG", file.c_str(), 1);
  const KubeAccess pod = {.service_account_folder = folder_.string()};
  KubeAccess person = pod;
  person.kubeconfig_first = true;
  EXPECT_EQ(find_endpoint(pod)->server, "https://10.0.0.1:443");
  EXPECT_EQ(find_endpoint(pod)->ns, "team-b");
  EXPECT_EQ(find_endpoint(person)->server, "https://lab:6443");
  setenv("KUBECONFIG", "", 1);
  setenv("HOME", folder_.c_str(), 1);
  EXPECT_EQ(find_endpoint(person)->server, "https://10.0.0.1:443");
  std::filesystem::create_directory(folder_ / ".kube");
  std::ofstream(folder_ / ".kube/config").close();
  EXPECT_EQ(find_endpoint(person)->server, "https://10.0.0.1:443") << "nothing is in it";
  person.context = "lab";
  EXPECT_FALSE(find_endpoint(person)) << "a context that nothing can choose";
  unsetenv("KUBECONFIG");
}

TEST_F(InFolder, WhatOfSeveralFilesIsNotThereIsLeftOut) {
  const std::string config = (folder_ / "config").string();
  const std::string none = (folder_ / "none").string();
  std::ofstream(config) << kubeconfig("", "token: t");
  setenv("KUBECONFIG", (none + "::" + config + ":" + config).c_str(), 1);
  const auto endpoint = find_endpoint({});
  ASSERT_TRUE(endpoint) << endpoint.error().message;
  EXPECT_EQ(endpoint->server, "https://lab:6443");
  setenv("KUBECONFIG", (none + ":" + none + "2").c_str(), 1);
  const auto nothing = find_endpoint({});
  ASSERT_FALSE(nothing);
  EXPECT_NE(nothing.error().message.find(none + " cannot be read"), std::string::npos);
  unsetenv("KUBECONFIG");
}

TEST_F(InFolder, ATokenFileAloneMustBeThere) {
  const std::string config = (folder_ / "config").string();
  const auto find = [&](const std::string& user) {
    std::ofstream(config) << kubeconfig("", user);
    return find_endpoint({.kubeconfig = config});
  };
  const auto alone = find("tokenFile: none");
  ASSERT_FALSE(alone);
  EXPECT_NE(alone.error().message.find((folder_ / "none").string()), std::string::npos)
      << alone.error().message;
  EXPECT_EQ(find("tokenFile: none, token: t")->token, "t");
  EXPECT_TRUE(find("tokenFile: config"));
}

TEST_F(InCluster, UsesTheServiceAccountAndTheEnvironment) {
  setenv("KUBERNETES_SERVICE_HOST", "fd00::1", 1);
  setenv("KUBERNETES_SERVICE_PORT", "443", 1);
  const auto endpoint = find_endpoint({.service_account_folder = folder_.string()});
  ASSERT_TRUE(endpoint) << endpoint.error().message;
  EXPECT_EQ(endpoint->server, "https://[fd00::1]:443");
  EXPECT_EQ(endpoint->tls.ca_file, (folder_ / "ca.crt").string());
  EXPECT_EQ(endpoint->token_file, (folder_ / "token").string());
}

TEST_F(InCluster, ANamedKubeconfigWinsOverThePod) {
  setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1", 1);
  setenv("KUBERNETES_SERVICE_PORT", "443", 1);
  std::ofstream(folder_ / "config") << kubeconfig("", "token: t");
  const auto endpoint = find_endpoint({.kubeconfig = (folder_ / "config").string()});
  ASSERT_TRUE(endpoint) << endpoint.error().message;
  EXPECT_EQ(endpoint->server, "https://lab:6443");
  const auto missing = find_endpoint({.kubeconfig = (folder_ / "none").string()});
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().message.find("none"), std::string::npos);
}

using Token = InFolder;

TEST_F(Token, IsReadAgainAfterAMinuteOrWhenRefusedAndOutlivesAnEmptyFile) {
  const std::string file = (folder_ / "token").string();
  const auto write = [&](const std::string& text) { std::ofstream(file) << text; };
  test::FakeClock clock;
  write("one\n");
  TokenSource token("", file, clock);
  EXPECT_EQ(token.current(), "one");

  write("two\n");
  clock.advance(59);
  EXPECT_EQ(token.current(), "one");
  clock.advance(1);
  EXPECT_EQ(token.current(), "two");

  write("three\n");
  token.refresh();
  EXPECT_EQ(token.current(), "three");

  write("");
  token.refresh();
  EXPECT_EQ(token.current(), "three");
  std::filesystem::remove(file);
  token.refresh();
  EXPECT_EQ(token.current(), "three");
}

TEST_F(Token, AFixedOneIsGoodUntilThereIsAFile) {
  const std::string file = (folder_ / "token").string();
  test::FakeClock clock;
  TokenSource token("fixed", file, clock);
  EXPECT_EQ(token.current(), "fixed");
  std::ofstream(file) << "one";
  clock.advance(60);
  EXPECT_EQ(token.current(), "one");
}

TEST_F(Token, AFixedOneStays) {
  test::FakeClock clock;
  TokenSource token("fixed", "", clock);
  clock.advance(1000);
  EXPECT_EQ(token.current(), "fixed");
}

}  // namespace
}  // namespace slackline::cluster
