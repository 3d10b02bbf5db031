// ApiClient: requests to one API server with our credentials, and its refusals as one type.
//
// A 401 makes the token be read, or a plug-in run, again and the request be sent once more (F22),
// in the time that is left of it. One client serves all parts of a process: they share its token
// and its connections.
//
// Thread-safety: send() from any thread; stream() from any thread with a HttpStream of its own.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "cluster/api/credentials.h"
#include "cluster/api/kubeconfig.h"
#include "net/http_client.h"
#include "net/stream.h"
#include "slackline/base/result.h"

namespace slackline::cluster {

// Why a request did not succeed.
struct ApiFailure {
  int status = 0;  // of HTTP; 0 = there was no answer
  ErrorCode code = ErrorCode::kUnavailable;
  std::string reason;  // of the v1.Status, e.g. "Expired"
  std::string message;
  double retry_after_s = 0;

  Error error() const { return Error{code, message}; }
  // The history asked for is gone: list again.
  bool expired() const { return code == ErrorCode::kGone; }
  // A resourceVersion from the future: the server was restored from a backup (F20).
  bool too_large_version() const;
};

template <class T>
using ApiResult = tl::expected<T, ApiFailure>;

// The failure that a v1.Status means, from an answer or a watch's ERROR frame.
ApiFailure failure_of(int status, std::string_view body, double retry_after_s);

class ApiClient {
 public:
  ApiClient(KubeEndpoint endpoint, const Clock& clock);

  // Of a command that a person waits for: afterwards a request's time is its own, not a plug-in's,
  // which may ask that person something.
  Status await_credential();

  // `request.url` is a path with its query. Only 2xx is a value.
  ApiResult<net::HttpResponse> send(net::HttpRequest request);

  // Until the stream ends in good order.
  ApiResult<void> stream(net::HttpStream& stream, net::StreamRequest request,
                         const net::StreamHandlers& handlers);

  // The process ends: no request waits long for a credential plug-in any more.
  void hurry() { credentials_.hurry(); }

  std::unique_ptr<net::HttpStream> make_stream() const;
  const KubeEndpoint& endpoint() const { return endpoint_; }

 private:
  const KubeEndpoint endpoint_;
  const Clock& clock_;
  Credentials credentials_;
  net::HttpClient http_;
};

// The one client of a process. Asks nothing yet; fails when the kubeconfig cannot be used.
Result<std::unique_ptr<ApiClient>> connect(const KubeAccess& access);

// The minor version of Kubernetes ("1.36" is 36). Blocks for at most three seconds.
Result<int> server_minor(ApiClient& client);

// One segment of a path, percent-encoded.
std::string path_segment(std::string_view text);

}  // namespace slackline::cluster
