#include "slackline/base/dns_name.h"

#include <string>

#include <gtest/gtest.h>

namespace slackline {
namespace {

TEST(DnsName, NamespacesAreLabels) {
  for (const char* good : {"a", "team-a", "0", "kube-system"})
    EXPECT_TRUE(is_dns_label(good)) << good;
  EXPECT_TRUE(is_dns_label(std::string(63, 'a')));
  for (const char* bad :
       {"", ".", "..", "a.b", "-a", "a-", "A", "a_b", "a/b", "a b", "%2e", "a\r\n"})
    EXPECT_FALSE(is_dns_label(bad)) << bad;
  EXPECT_FALSE(is_dns_label(std::string(64, 'a')));
}

TEST(DnsName, PodsAndNodesAreSubdomains) {
  for (const char* good : {"a", "pod-0.x", "gpu-1.cluster.internal", "0.1"})
    EXPECT_TRUE(is_dns_subdomain(good)) << good;
  EXPECT_TRUE(is_dns_subdomain(std::string(253, 'a'))) << "as Kubernetes has it";
  for (const char* bad :
       {"", ".", "..", "a..b", ".a", "a.", "a/../b", "x?dryRun=All", "x#f", "a.-b", "w\x01", "Ä"})
    EXPECT_FALSE(is_dns_subdomain(bad)) << bad;
  EXPECT_FALSE(is_dns_subdomain(std::string(254, 'a')));
  EXPECT_FALSE(is_dns_subdomain(std::string_view("w\0", 2)));
}

TEST(DnsName, LabelsHaveCapitalsUnderscoresAndDots) {
  for (const char* good : {"a", "team-a", "A_b.C", "0"})
    EXPECT_TRUE(is_label_value(good)) << good;
  EXPECT_TRUE(is_label_value(std::string(63, 'Z')));
  for (const char* bad : {"", "A b!", "-a", "a.", "_a", "a/b", "a b", "Ä"})
    EXPECT_FALSE(is_label_value(bad)) << bad;
  EXPECT_FALSE(is_label_value(std::string(64, 'a')));
}

}  // namespace
}  // namespace slackline
