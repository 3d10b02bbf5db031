// OwnSecret: a Secret that the manifests ship empty and that Slackline fills. It has no right to
// create one. Private to this layer.
//
// Thread-safe.
#pragma once

#include <string>

#include "cluster/api/object_client.h"
#include "slackline/base/result.h"
#include "slackline/model/ids.h"

namespace slackline::cluster {

class OwnSecret {
 public:
  // `client` outlives it.
  OwnSecret(ApiClient& client, ObjectKey name);

  // As JSON. kNotFound names the Secret, and what puts it back.
  Result<std::string> read();
  // A merge patch: labels, annotations and the type are not ours. kConflict: it holds another
  // resourceVersion than the Secret.
  Status patch(std::string body);

 private:
  ObjectClient client_;
  const ObjectKey name_;
};

}  // namespace slackline::cluster
