// TLS, mutual TLS, and certificates that change while the server runs (F36).
#include <filesystem>
#include <functional>
#include <memory>

#include <openssl/ssl.h>

#include "support/http_fixture.h"
#include "support/test_pki.h"

namespace slackline::test {
namespace {

namespace fs = std::filesystem;

class HttpTls : public HttpServerFixture {
 protected:
  HttpTls() {
    pki_.make_leaf("server", "slackline", "A1");
    listener_.tls = http::TlsOptions{pki_.path("server.crt"), pki_.path("server.key"), ""};
  }

  ClientTls trusting() const { return ClientTls{pki_.path("ca.crt"), "", "", 0, ""}; }
  ClientTls presenting(const std::string& name) const {
    return ClientTls{pki_.path("ca.crt"), pki_.path(name + ".crt"), pki_.path(name + ".key"), 0,
                     ""};
  }

  // In TLS 1.3 the client learns of a refused certificate only with its first read.
  bool served(const ClientTls& tls) const {
    RawClient one(port_);
    return one.start_tls(tls) && one.call(get("/healthz")).has_value();
  }

  std::string serial(const ClientTls& tls) const {
    RawClient one(port_);
    return one.start_tls(tls) ? one.server_serial() : "none";
  }
  std::string serial_now() const { return serial(trusting()); }

  double reload_failures() const {
    return metric("slackline_tls_reload_failures_total{listener=\"test\"}");
  }

  TestPki pki_;
};

TEST_F(HttpTls, ServesRequestsOfEverySize) {
  start();
  RawClient one = client();
  ASSERT_TRUE(one.start_tls(trusting()));
  for (const std::size_t size : {0UL, 5UL, 16'384UL, 70'000UL, 5'000'001UL}) {
    const std::string body(size, 'b');
    const auto response = one.call(post("/echo", body));
    ASSERT_TRUE(response) << size;
    EXPECT_EQ(response->body, body);
  }
  one.send(get("/healthz") + get("/slow?ms=1") + get("/healthz"));
  EXPECT_EQ(one.receive()->body, "ok");
  EXPECT_EQ(one.receive()->body, "awake");
  EXPECT_EQ(one.receive()->body, "ok");
}

TEST_F(HttpTls, NeverFallsBackToPlainHttpOrOldTls) {
  start();
  EXPECT_EQ(status_of(get("/healthz")), 0);
  for (const int old : {TLS1_VERSION, TLS1_1_VERSION}) {
    ClientTls tls = trusting();
    tls.max_version = old;
    EXPECT_FALSE(served(tls));
  }
  ClientTls tls = trusting();
  tls.max_version = TLS1_2_VERSION;
  EXPECT_TRUE(served(tls));
  EXPECT_GE(refused("tls"), 3);
}

TEST_F(HttpTls, SpeaksOnlyAuthenticatedCiphers) {
  start();
  const auto speaks = [this](const std::string& ciphers) {
    ClientTls tls = trusting();
    tls.max_version = TLS1_2_VERSION;
    tls.ciphers = ciphers;
    return served(tls);
  };
  for (const char* good : {"ECDHE+AESGCM", "ECDHE+CHACHA20"})
    EXPECT_TRUE(speaks(good)) << good;
  for (const char* old :
       {"ECDHE+AES128:!AESGCM:!AESCCM", "AES128-SHA:AES256-SHA256", "AES128-GCM-SHA256", "DHE"})
    EXPECT_FALSE(speaks(old)) << old;
}

TEST_F(HttpTls, RefusalsArriveThroughTls) {
  start();
  RawClient one = client();
  ASSERT_TRUE(one.start_tls(trusting()));
  const auto response =
      one.call("POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999\r\n\r\n" +
               std::string(100'000, 'x'));
  ASSERT_TRUE(response);
  EXPECT_EQ(response->status, 413);
}

TEST_F(HttpTls, StalledHandshakesDisturbNobodyAndEnd) {
  listener_.limits.handshake_time = milliseconds(1'500);
  start();
  std::vector<RawClient> stalled;
  for (int i = 0; i < 64; ++i) {
    stalled.push_back(client());
    stalled.back().send("\x16\x03\x01");
  }
  EXPECT_TRUE(served(trusting()));
  EXPECT_LE(refused("tls_timeout"), 0) << "while all of them stalled";
  for (RawClient& one : stalled)
    EXPECT_TRUE(one.closed_within(seconds(2)));
  EXPECT_EQ(refused("tls_timeout"), 64);
}

TEST_F(HttpTls, MutualTlsTellsTheHandlerWhoAsks) {
  listener_.tls->client_ca_file = pki_.path("ca.crt");
  pki_.make_leaf("scheduler", "kube-scheduler", "B1");
  pki_.make_ca("other-ca");
  pki_.make_leaf("stranger", "kube-scheduler", "B2", 2, "other-ca");
  pki_.make_leaf("expired", "kube-scheduler", "B3", 0);
  const auto whoami = [](const http::Request& request) {
    return text(std::string(request.tls_peer));
  };
  router_.add({"GET", "/whoami", whoami, 0, http::Pool::kHot});
  start();
  for (int i = 0; i < 3; ++i) {
    RawClient one = client();
    ASSERT_TRUE(one.start_tls(presenting("scheduler")));
    EXPECT_EQ(
        one.call("GET /whoami HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: admin\r\n\r\n")->body,
        "kube-scheduler");
  }
  EXPECT_FALSE(served(trusting())) << "no client certificate";
  EXPECT_FALSE(served(presenting("stranger"))) << "another CA";
  EXPECT_FALSE(served(presenting("expired")));
}

// Without a certificate nobody gets beyond the handshake, and a handshake always gives way.
TEST_F(HttpTls, WhoHasACertificateFindsAPlaceHoweverManyHaveNone) {
  constexpr int kPlaces = 16;
  listener_.tls->client_ca_file = pki_.path("ca.crt");
  listener_.limits.connections = kPlaces;
  pki_.make_leaf("scheduler", "kube-scheduler", "D1");
  start();
  std::vector<RawClient> strangers;  // of addresses of their own, and of the scheduler's
  const auto crowd_in = [&] {
    for (int i = 1; i <= 2 * kPlaces; ++i) {
      strangers.push_back(client(i % 4 == 0 ? "127.0.0.1" : "127.0.1." + std::to_string(i)));
      strangers.back().send("\x16\x03\x01");
    }
  };
  std::vector<RawClient> known;
  for (int i = 0; i < kPlaces; ++i) {
    crowd_in();
    EXPECT_TRUE(eventually([this] { return connections() == kPlaces; }));
    known.push_back(client());
    ASSERT_TRUE(known.back().start_tls(presenting("scheduler"))) << i;
    known.back().send(post("/bind?ms=2000", ""));
  }
  crowd_in();
  for (RawClient& one : known) {
    const auto answer = one.receive();
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->status, 200);
  }
  EXPECT_GT(refused("evicted"), kPlaces);
  EXPECT_GT(refused("connection_cap"), 0) << "when all places were the scheduler's";
}

TEST_F(HttpTls, OnlyTheNamedClientsOfTheCaAreServed) {
  listener_.tls->client_ca_file = pki_.path("ca.crt");
  listener_.tls->client_names = {"kube-scheduler", "prober"};
  pki_.make_leaf("scheduler", "kube-scheduler", "C1");
  pki_.make_leaf("neighbour", "somebody-else", "C2");
  pki_.make_leaf("prefix", "kube-scheduler.evil", "C3");
  start();
  for (int i = 0; i < 2; ++i)
    EXPECT_TRUE(served(presenting("scheduler")));
  EXPECT_FALSE(served(presenting("neighbour"))) << "the same CA, another name";
  EXPECT_FALSE(served(presenting("prefix")));
  EXPECT_FALSE(served(trusting())) << "no client certificate";
  pki_.make_leaf("server", "slackline", "C9");
  EXPECT_TRUE(eventually([this] { return serial(presenting("scheduler")) == "C9"; }));
  EXPECT_FALSE(served(presenting("neighbour"))) << "nor after the certificate was read again";
}

TEST_F(HttpTls, WillNotStartWithACertificateItCannotServe) {
  const auto error_with = [this](const std::string& cert, const std::string& key) {
    listener_.tls = http::TlsOptions{pki_.path(cert), pki_.path(key), ""};
    http::Server server(metrics_);
    const Status started = server.start({listener_});
    return started ? std::string("started") : started.error().message;
  };
  pki_.make_leaf("old", "slackline", "A2", 0);
  EXPECT_NE(error_with("absent.crt", "server.key").find("absent.crt"), std::string::npos);
  EXPECT_NE(error_with("server.crt", "ca.key").find("ca.key"), std::string::npos);
  EXPECT_NE(error_with("old.crt", "old.key").find("expired"), std::string::npos);
}

TEST_F(HttpTls, ANewCertificateServesNewConnections) {
  // As the kubelet lays it out: the files are links through "..data", which is swapped at once.
  pki_.make_leaf("next", "slackline", "A7");
  const fs::path volume = pki_.path("volume");
  for (const std::string name : {"server", "next"}) {
    fs::create_directories(volume / name);
    fs::copy_file(pki_.path(name + ".crt"), volume / name / "tls.crt");
    fs::copy_file(pki_.path(name + ".key"), volume / name / "tls.key");
  }
  fs::create_directory_symlink("server", volume / "..data");
  fs::create_symlink("..data/tls.crt", volume / "tls.crt");
  fs::create_symlink("..data/tls.key", volume / "tls.key");
  listener_.tls = http::TlsOptions{volume / "tls.crt", volume / "tls.key", ""};
  start();
  RawClient old = client();
  ASSERT_TRUE(old.start_tls(trusting()));
  EXPECT_EQ(old.server_serial(), "A1");
  fs::create_directory_symlink("next", volume / "..data_tmp");
  fs::rename(volume / "..data_tmp", volume / "..data");
  EXPECT_TRUE(eventually([this] { return serial_now() == "A7"; }));
  EXPECT_EQ(old.call(get("/healthz"))->status, 200) << "open connections go on";
  EXPECT_EQ(reload_failures(), 0);
}

TEST_F(HttpTls, ABrokenExpiredOrForeignCertificateIsNotTaken) {
  start();
  const auto replace = [&](const std::string& with, double failures_then) {
    fs::copy_file(pki_.path(with), pki_.path("server.crt"), fs::copy_options::overwrite_existing);
    EXPECT_TRUE(eventually([&] { return reload_failures() == failures_then; })) << with;
    EXPECT_EQ(serial_now(), "A1") << with;
  };
  pki_.make_leaf("other", "slackline", "A3");
  replace("other.crt", 1);  // its key is another one
  replace("other.csr", 2);  // no certificate at all
  pki_.make_leaf("late", "slackline", "A4", 0);
  fs::copy_file(pki_.path("late.key"), pki_.path("server.key"),
                fs::copy_options::overwrite_existing);
  fs::copy_file(pki_.path("late.crt"), pki_.path("server.crt"),
                fs::copy_options::overwrite_existing);
  EXPECT_TRUE(eventually([this] { return reload_failures() >= 3; }));
  EXPECT_EQ(serial_now(), "A1");
  fs::copy_file(pki_.path("other.key"), pki_.path("server.key"),
                fs::copy_options::overwrite_existing);
  fs::copy_file(pki_.path("other.crt"), pki_.path("server.crt"),
                fs::copy_options::overwrite_existing);
  EXPECT_TRUE(eventually([this] { return serial_now() == "A3"; })) << "mended: taken";
}

}  // namespace
}  // namespace slackline::test
