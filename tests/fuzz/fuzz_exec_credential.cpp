// What a kubeconfig's credential plug-in prints: what is taken fits into a request's head.
#include "fuzz/fuzz.h"
#include "wire/kube/exec_credential_codec.h"

using namespace slackline;
using namespace slackline::fuzz;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  for (const char* version :
       {"client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1"}) {
    const auto credential = wire::decode_exec_credential(text_of(data, size), version);
    if (!credential) continue;
    require(credential->token.find_first_of("\r\n ") == std::string::npos, "a token is one word");
    require(!credential->token.empty() || !credential->certificate.empty(), "it is a credential");
    require(credential->certificate.empty() == credential->key.empty(), "a pair is whole");
  }
  return 0;
}
