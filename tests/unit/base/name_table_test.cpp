#include "slackline/base/name_table.h"

#include <bit>
#include <chrono>
#include <cstring>
#include <string>

#include <gtest/gtest.h>

namespace slackline {
namespace {

TEST(NameTable, KnowsEveryNameOnceByItsPlace) {
  std::vector<std::string> names = {"", "a", "b", "seven-7", "eight-88", "nine-9999"};
  for (int i = 0; i < 3000; ++i)
    names.push_back("gpu-node-" + std::to_string(i) + ".example");
  NameTable table;
  table.reset(names.size());
  for (const std::string& name : names)
    EXPECT_TRUE(table.insert(name)) << name;
  for (const std::string& name : names)
    EXPECT_FALSE(table.insert(std::string(name))) << name;
  for (std::uint32_t i = 0; i < names.size(); ++i) {
    EXPECT_EQ(table.find(names[i]), i);
    EXPECT_EQ(table.names()[i], names[i]);
  }
  EXPECT_EQ(table.find("gpu-node-3000.example"), std::nullopt);
  EXPECT_EQ(table.find("gpu-node-1.exampl"), std::nullopt) << "a name that another begins with";
}

TEST(NameTable, ForgetsAtReset) {
  NameTable table;
  EXPECT_EQ(table.find("a"), std::nullopt) << "nothing is there before the first reset";
  table.reset(1);
  table.insert("a");
  table.reset(0);
  EXPECT_EQ(table.find("a"), std::nullopt);
  EXPECT_TRUE(table.names().empty());
}

// Sixteen bytes each. Under a hash that multiplies and rotates, as this table's once did, the
// second eight can be computed so that all of them collide, for any seed that is known.
std::vector<std::string> colliding_names(std::size_t count) {
  constexpr std::uint64_t kMultiplier = 0x9E3779B97F4A7C15ULL;
  std::vector<std::string> names(count, std::string(16, ' '));
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t first = i * kMultiplier;
    const std::uint64_t after = (std::rotl(16 * kMultiplier, 23) ^ first) * kMultiplier;
    const std::uint64_t second = std::rotl(after, 23) ^ 0x1234567890abcdefULL;
    std::memcpy(names[i].data(), &first, 8);
    std::memcpy(names[i].data() + 8, &second, 8);
  }
  return names;
}

TEST(NameTable, TakesNoLongerForNamesThatWereChosenToCollide) {
  const std::vector<std::string> names = colliding_names(100'000);
  NameTable table(process_hash_key());
  table.reset(names.size());
  const auto begun = std::chrono::steady_clock::now();
  for (const std::string& name : names)
    EXPECT_TRUE(table.insert(name));
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
  EXPECT_LT(took.count(), 2) << "quadratic: it took 10 s and more";
}

std::string bytes_up_to(std::size_t size) {
  std::string bytes;
  for (std::size_t i = 0; i < size; ++i)
    bytes += static_cast<char>(i);
  return bytes;
}

// The vectors of the reference implementation, key and input being the bytes 0, 1, 2 ...
TEST(SipHash, IsTheOneOfThePaper) {
  const HashKey key{0x0706050403020100ULL, 0x0f0e0d0c0b0a0908ULL};
  const auto hash = [&](std::size_t size) { return sip_hash<2, 4>(key, bytes_up_to(size)); };
  EXPECT_EQ(hash(0), 0x726fdb47dd0e0e31ULL);
  EXPECT_EQ(hash(1), 0x74f839c593dc67fdULL);
  EXPECT_EQ(hash(2), 0x0d6c8009d9a94f5aULL);
  EXPECT_EQ(hash(8), 0x93f5f5799a932462ULL);
  EXPECT_EQ(hash(15), 0xa129ca6149be45e5ULL);
}

TEST(SipHash, DependsOnTheKeyAndEveryByte) {
  const std::string name = "gpu-node-17.example";
  const HashKey key{1, 2};
  EXPECT_NE(sip_hash(key, name), sip_hash(HashKey{1, 3}, name));
  for (std::size_t i = 0; i < name.size(); ++i) {
    std::string other = name;
    other[i] = '!';
    EXPECT_NE(sip_hash(key, name), sip_hash(key, other)) << i;
  }
  EXPECT_EQ(process_hash_key().first, process_hash_key().first);
  EXPECT_NE(process_hash_key().first, 0U);
}

}  // namespace
}  // namespace slackline
