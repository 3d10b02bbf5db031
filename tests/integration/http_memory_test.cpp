// Memory that runs out: any allocation may be the one that fails. Each allocation
// that serving a request takes is made to fail once: at most that connection ends, and the next
// client is served.
#include <atomic>
#include <cstdlib>
#include <functional>
#include <new>

#include "support/http_fixture.h"
#include "support/test_pki.h"

namespace {

thread_local bool is_client = false;    // the test's own thread, which always gets memory
std::atomic<long> allocations_left{0};  // the one that takes the last of them fails

}  // namespace

void* operator new(std::size_t size) {
  if (!is_client && allocations_left > 0 && --allocations_left == 0) throw std::bad_alloc();
  void* const memory = std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t /*size*/) noexcept {
  std::free(memory);
}

namespace slackline::test {
namespace {

class HttpMemory : public HttpServerFixture {
 protected:
  HttpMemory() { is_client = true; }
  ~HttpMemory() override { allocations_left = 0; }

  // True if the client was answered, or its connection closed: not left hanging.
  static bool ends(RawClient& one, const std::string& request) {
    one.send(request);
    return one.receive(seconds(2)) || one.closed_within(seconds(2));
  }

  // Lets the first, the second ... allocation of `walk` fail until it takes no more.
  void fail_each_allocation_of(const std::function<void()>& walk, int at_least) {
    constexpr int kFarTooMany = 1000;
    int failing = 1;
    for (; failing < kFarTooMany; ++failing) {
      allocations_left = failing;
      walk();
      const bool failed = allocations_left == 0;
      allocations_left = 0;
      next_client_is_served(failing);
      if (HasFailure() || !failed) break;
    }
    EXPECT_GE(failing, at_least);
    EXPECT_LT(failing, kFarTooMany);
    EXPECT_TRUE(eventually([this] { return connections() == 0; }));
    EXPECT_GT(refused("no_memory"), 0);
  }

  virtual void next_client_is_served(int failed) {
    EXPECT_TRUE(eventually([this] { return status_of(get("/healthz")) == 200; }))
        << "after allocation " << failed << " had failed";
  }
};

TEST_F(HttpMemory, AConnectionAndAGrowingBody) {
  start();
  fail_each_allocation_of(
      [this] {
        RawClient one = client();
        EXPECT_TRUE(ends(one, post("/echo", std::string(100'000, 'x')) + get("/healthz")));
      },
      10);
}

TEST_F(HttpMemory, AHandlerOnAThread) {
  start();
  fail_each_allocation_of(
      [this] {
        RawClient one = client();
        EXPECT_TRUE(ends(one, get("/slow?ms=1")));
      },
      10);
}

TEST_F(HttpMemory, RefusalsThatAreCountedAndLogged) {
  start();
  for (const std::string request :
       {"nonsense\r\n\r\n", "GET /absent HTTP/1.1\r\nHost: localhost\r\n\r\n"})
    fail_each_allocation_of(
        [&] {
          RawClient one = client();
          EXPECT_TRUE(ends(one, request));
        },
        5);
}

TEST_F(HttpMemory, AClientThatMakesRoomForAnother) {
  listener_.limits.connections = 4;
  start();
  fail_each_allocation_of(
      [this] {
        std::vector<RawClient> greedy;
        for (int i = 0; i < 4; ++i) {
          greedy.push_back(client("127.0.0.2"));
          greedy.back().send("P");
        }
        RawClient one = client();
        EXPECT_TRUE(ends(one, get("/healthz")));
      },
      10);
}

class HttpMemoryTls : public HttpMemory {
 protected:
  HttpMemoryTls() {
    pki_.make_leaf("server", "slackline", "A1");
    pki_.make_leaf("scheduler", "a-long-name-of-a-kube-scheduler", "B1");
    listener_.tls = http::TlsOptions{pki_.path("server.crt"),
                                     pki_.path("server.key"),
                                     pki_.path("ca.crt"),
                                     {"a-long-name-of-a-kube-scheduler"}};
    listener_.limits.handshakes_per_s = 10'000;
  }
  ClientTls presenting() const {
    return {pki_.path("ca.crt"), pki_.path("scheduler.crt"), pki_.path("scheduler.key"), 0, ""};
  }
  void next_client_is_served(int failed) override {
    RawClient next = client();
    ASSERT_TRUE(next.start_tls(presenting())) << "after allocation " << failed << " had failed";
    EXPECT_TRUE(next.call(get("/healthz")));
  }

  TestPki pki_;
};

TEST_F(HttpMemoryTls, AHandshakeWithACertificate) {
  start();
  fail_each_allocation_of(
      [this] {
        RawClient one = client();
        if (one.start_tls(presenting())) {
          EXPECT_TRUE(ends(one, get("/healthz")));
        }
      },
      15);
}

}  // namespace
}  // namespace slackline::test
