// Certificates for one test, made with the openssl program in a folder of their own.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

namespace slackline::test {

class TestPki {
 public:
  TestPki() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "slackline-pki-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary folder");
    folder_ = pattern;
    make_ca("ca");
  }
  ~TestPki() { std::filesystem::remove_all(folder_); }
  TestPki(const TestPki&) = delete;
  TestPki& operator=(const TestPki&) = delete;

  std::string path(const std::string& file) const { return (folder_ / file).string(); }

  // NAME.crt and NAME.key, signed by itself.
  void make_ca(const std::string& name) {
    openssl("req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=" +
            name + " -keyout " + path(name + ".key") + " -out " + path(name + ".crt"));
  }

  // NAME.crt and NAME.key, signed by `ca`. More days than none: valid.
  void make_leaf(const std::string& name, const std::string& common_name, const std::string& serial,
                 int days = 2, const std::string& ca = "ca") {
    openssl("req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=" + common_name +
            " -keyout " + path(name + ".key") + " -out " + path(name + ".csr"));
    openssl("x509 -req -in " + path(name + ".csr") + " -CA " + path(ca + ".crt") + " -CAkey " +
            path(ca + ".key") + " -set_serial 0x" + serial + " -days " + std::to_string(days) +
            " -out " + path(name + ".crt"));
  }

 private:
  static void openssl(const std::string& arguments) {
    if (std::system(("openssl " + arguments + " 2>/dev/null").c_str()) != 0)
      throw std::runtime_error("openssl " + arguments);
  }

  std::filesystem::path folder_;
};

}  // namespace slackline::test
