#include "cluster/api/kube_token.h"

#include <fstream>
#include <iterator>
#include <utility>

#include "slackline/base/text.h"

namespace slackline::cluster {

TokenSource::TokenSource(std::string fixed, std::string file, const Clock& clock)
    : file_(std::move(file)), clock_(clock), token_(std::move(fixed)) {
  refresh();
}

std::string TokenSource::current() {
  bool due = false;
  {
    MutexLock lock(mutex_);
    due = !file_.empty() && clock_.steady_s() - read_s_ >= kTokenPeriod_s;
  }
  if (due) refresh();
  MutexLock lock(mutex_);
  return token_;
}

void TokenSource::refresh() {
  if (file_.empty()) return;
  std::ifstream in(file_, std::ios::binary);
  const std::string content{std::istreambuf_iterator<char>(in), {}};
  const std::string_view token = trim(content);
  MutexLock lock(mutex_);
  read_s_ = clock_.steady_s();
  if (!token.empty()) token_ = token;
}

}  // namespace slackline::cluster
