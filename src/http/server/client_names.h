// Which client certificates a TLS listener accepts: those of its client CA that name one of a few
// names.
#pragma once

#include <string>
#include <vector>

#include <openssl/types.h>

#include "slackline/base/result.h"

namespace slackline::http {

// The names of a certificate: DNS names, addresses and URIs of its subjectAltName; without any its
// common name. Letters of DNS names are lower case.
std::vector<std::string> names_of(const X509* certificate);

// From now on a handshake fails unless the certificate names one of `names`, exactly (no
// wildcards). Empty: every verified certificate is accepted. Verification itself is set up already.
Status allow_only(SSL_CTX* context, const std::vector<std::string>& names);

}  // namespace slackline::http
