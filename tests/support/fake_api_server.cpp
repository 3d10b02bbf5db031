#include "support/fake_api_server.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "slackline/base/text.h"

namespace slackline::test {
namespace {

std::string percent_decoded(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size()) {
      result.push_back(
          static_cast<char>(std::stoi(std::string(text.substr(i + 1, 2)), nullptr, 16)));
      i += 2;
    } else {
      result.push_back(text[i]);
    }
  }
  return result;
}

void parse_target(std::string_view target, FakeRequest& request) {
  const auto mark = target.find('?');
  request.path = target.substr(0, mark);
  if (mark == std::string_view::npos) return;
  for (const std::string_view pair : split(target.substr(mark + 1), '&')) {
    const auto equals = pair.find('=');
    if (equals == std::string_view::npos) continue;
    request.query[std::string(pair.substr(0, equals))] = percent_decoded(pair.substr(equals + 1));
  }
}

std::string name_of(const FakeRequest& request) {
  if (request.query.contains("sendInitialEvents")) return "initial " + request.path;
  if (request.query.contains("watch")) return "watch " + request.path;
  if (request.query.contains("limit")) return "list " + request.path;
  return request.method + " " + request.path;
}

std::string with_version(std::string object, std::int64_t version) {
  const std::string mark = "@RV@";
  if (const auto at = object.find(mark); at != std::string::npos)
    object.replace(at, mark.size(), std::to_string(version));
  return object;
}

std::string bookmark_object(std::int64_t version, bool end_mark) {
  const std::string annotations =
      end_mark ? R"(,"annotations":{"k8s.io/initial-events-end":"true"})" : "";
  return format(R"({{"metadata":{{"resourceVersion":"{}"{}}}}})", version, annotations);
}

std::string frame_of(std::string_view type, std::string_view object) {
  return format(R"({{"type":"{}","object":{}}})", type, object);
}

constexpr const char* kExpired =
    R"({"kind":"Status","status":"Failure","code":410,"reason":"Expired","message":"too old resource version"})";

}  // namespace

void FakeConnection::send(std::string_view bytes) {
  while (!bytes.empty() && !closed_) {
    const std::size_t size = std::min({bytes.size(), piece_, left_});
    if (size == 0) return close();
    const ssize_t sent = ::send(socket_, bytes.data(), size, MSG_NOSIGNAL);
    if (sent <= 0) return close();
    if (left_ != std::string::npos) left_ -= static_cast<std::size_t>(sent);
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

void FakeConnection::close() {
  if (!closed_.exchange(true)) ::shutdown(socket_, SHUT_RDWR);
}

void FakeConnection::reply(int status, std::string_view body, std::string_view headers) {
  send(
      format("HTTP/1.1 {} Fake\r\nContent-Type: application/json\r\nContent-Length: {}\r\n{}\r\n{}",
             status, body.size(), headers, body));
}

void FakeConnection::reply_status(int status, std::string_view reason, std::string_view message,
                                  std::string_view headers) {
  reply(status,
        format(R"({{"kind":"Status","apiVersion":"v1","status":"Failure","code":{},"reason":"{}",)"
               R"("message":"{}"}})",
               status, reason, message),
        headers);
}

void FakeConnection::begin_stream() {
  send("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n");
}

void FakeConnection::frame(std::string_view json) {
  send(format("{:x}\r\n{}\n\r\n", json.size() + 1, json));
}

void FakeConnection::end_stream() {
  send("0\r\n\r\n");
}

bool FakeConnection::peer_is_gone() const {
  pollfd poll{.fd = socket_, .events = POLLIN, .revents = 0};
  if (::poll(&poll, 1, 0) <= 0) return false;
  char byte = 0;
  return ::recv(socket_, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

void FakeConnection::hang() {
  char byte = 0;
  while (!closed_ && ::recv(socket_, &byte, 1, 0) > 0) {
  }
}

bool FakeConnection::read_request(FakeRequest& request) {
  const auto read_more = [&] {
    char chunk[4096];
    const ssize_t size = ::recv(socket_, chunk, sizeof(chunk), 0);
    if (size > 0) buffer_.append(chunk, static_cast<std::size_t>(size));
    return size > 0;
  };
  std::size_t head_end = 0;
  while ((head_end = buffer_.find("\r\n\r\n")) == std::string::npos)
    if (!read_more()) return false;
  const std::string head = buffer_.substr(0, head_end);
  buffer_.erase(0, head_end + 4);
  bool first = true;
  for (const std::string_view line : split(head, '\n')) {
    if (first) {
      const auto words = split(line, ' ');
      request.method = words[0];
      parse_target(words[1], request);
      first = false;
    } else if (const auto colon = line.find(':'); colon != std::string_view::npos) {
      request.headers[to_lower(line.substr(0, colon))] = trim(line.substr(colon + 1));
    }
  }
  const auto length = request.headers.find("content-length");
  const std::size_t size = length == request.headers.end() ? 0 : std::stoul(length->second);
  while (buffer_.size() < size)
    if (!read_more()) return false;
  request.body = buffer_.substr(0, size);
  buffer_.erase(0, size);
  request.name = name_of(request);
  return true;
}

FakeApiServer::FakeApiServer(std::uint16_t port) {
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  ::setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  socklen_t size = sizeof(address);
  if (::bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      ::listen(listener_, 64) != 0 ||
      ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) != 0)
    std::abort();
  port_ = ntohs(address.sin_port);
  acceptor_ = std::thread(&FakeApiServer::accept_loop, this);
}

FakeApiServer::~FakeApiServer() {
  stop();
}

void FakeApiServer::stop() {
  if (stopping_.exchange(true)) return;
  ::shutdown(listener_, SHUT_RDWR);
  acceptor_.join();
  break_connections();
  std::list<Peer> peers;
  {
    MutexLock lock(mutex_);
    happened_.notify_all();
    peers.swap(peers_);
  }
  for (Peer& peer : peers) {
    peer.thread.join();
    ::close(peer.connection->socket_);
  }
  ::close(listener_);
}

std::string FakeApiServer::url() const {
  return format("http://127.0.0.1:{}", port_);
}

std::string FakeApiServer::write_kubeconfig(const std::string& folder,
                                            const std::string& token_file) const {
  const std::string path = folder + "/kubeconfig";
  const std::string user =
      token_file.empty() ? R"("token":"secret")" : format(R"("tokenFile":"{}")", token_file);
  std::ofstream(path) << format(
      R"({{"current-context":"c","contexts":[{{"name":"c","context":{{"cluster":"k","user":"u"}}}}],)"
      R"("clusters":[{{"name":"k","cluster":{{"server":"{}"}}}}],)"
      R"("users":[{{"name":"u","user":{{{}}}}}]}})",
      url(), user);
  return path;
}

void FakeApiServer::log(const std::string& path, const std::string& type, std::string object) {
  resources_[path].events.push_back({++serial_, version_, type, std::move(object)});
  happened_.notify_all();
}

std::int64_t FakeApiServer::record(const std::string& path, const std::string& type,
                                   std::string object) {
  ++version_;
  log(path, type, with_version(std::move(object), version_));
  return version_;
}

void FakeApiServer::put(const std::string& path, const std::string& key, std::string object) {
  MutexLock lock(mutex_);
  const bool known = resources_[path].objects.contains(key);
  const std::int64_t version = record(path, known ? "MODIFIED" : "ADDED", object);
  resources_[path].objects[key] = with_version(std::move(object), version);
}

void FakeApiServer::remove(const std::string& path, const std::string& key) {
  MutexLock lock(mutex_);
  auto& objects = resources_[path].objects;
  const auto at = objects.find(key);
  if (at == objects.end()) return;
  // A deleted object carries the version of its deletion; the tests' objects name their old one.
  std::string object = at->second;
  const std::string mark = R"("resourceVersion":")";
  if (const auto from = object.find(mark); from != std::string::npos) {
    const auto to = object.find('"', from + mark.size());
    object.replace(from + mark.size(), to - from - mark.size(), "@RV@");
  }
  objects.erase(at);
  record(path, "DELETED", std::move(object));
}

void FakeApiServer::bookmark(const std::string& path) {
  MutexLock lock(mutex_);
  log(path, "BOOKMARK", bookmark_object(version_, false));
}

void FakeApiServer::compact() {
  MutexLock lock(mutex_);
  oldest_ = ++version_;
  for (auto& [path, resource] : resources_)
    resource.events.clear();
}

void FakeApiServer::restore_older() {
  {
    MutexLock lock(mutex_);
    version_ = oldest_ = 500;
    for (auto& [path, resource] : resources_)
      resource.events.clear();
  }
  break_connections();
}

void FakeApiServer::lose_silently(const std::string& path, const std::string& key) {
  MutexLock lock(mutex_);
  resources_[path].objects.erase(key);
}

void FakeApiServer::break_connections() {
  MutexLock lock(mutex_);
  for (Peer& peer : peers_)
    peer.connection->close();
  happened_.notify_all();
}

void FakeApiServer::next(const std::string& name, Answer answer) {
  MutexLock lock(mutex_);
  next_[name].push_back(std::move(answer));
}

void FakeApiServer::next(const std::string& name, int status, const std::string& body) {
  next(name, [=](const FakeRequest&, FakeConnection& reply) { reply.reply(status, body); });
}

void FakeApiServer::always(const std::string& name, Answer answer) {
  MutexLock lock(mutex_);
  always_[name] = std::move(answer);
}

std::vector<FakeRequest> FakeApiServer::requests(const std::string& name) const {
  std::vector<FakeRequest> found;
  MutexLock lock(mutex_);
  for (const FakeRequest& request : seen_)
    if (request.name == name) found.push_back(request);
  return found;
}

std::size_t FakeApiServer::count(const std::string& name) const {
  return requests(name).size();
}

std::vector<FakeRequest> FakeApiServer::seen() const {
  MutexLock lock(mutex_);
  return seen_;
}

void FakeApiServer::accept_loop() {
  while (!stopping_) {
    const int socket = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (socket < 0) continue;
    const int on = 1;
    ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    MutexLock lock(mutex_);
    Peer& peer = peers_.emplace_back();
    peer.connection = std::make_unique<FakeConnection>(socket);
    peer.thread = std::thread(&FakeApiServer::talk, this, std::ref(peer));
  }
}

void FakeApiServer::talk(Peer& peer) {
  FakeConnection& connection = *peer.connection;
  for (FakeRequest request; connection.open() && connection.read_request(request); request = {}) {
    answer_to(request)(request, connection);
  }
  connection.close();
}

FakeApiServer::Answer FakeApiServer::answer_to(const FakeRequest& request) {
  MutexLock lock(mutex_);
  seen_.push_back(request);
  if (auto& queue = next_[request.name]; !queue.empty()) {
    Answer answer = std::move(queue.front());
    queue.pop_front();
    return answer;
  }
  if (const auto at = always_.find(request.name); at != always_.end()) return at->second;
  return [this](const FakeRequest& asked, FakeConnection& connection) { serve(asked, connection); };
}

void FakeApiServer::serve(const FakeRequest& request, FakeConnection& connection) {
  if (request.name.starts_with("list ")) return serve_list(request, connection);
  if (request.name.starts_with("watch ")) return serve_watch(request, connection, false);
  if (request.name.starts_with("initial ")) {
    if (streaming_lists_) return serve_watch(request, connection, true);
    return connection.reply_status(422, "Invalid", "sendInitialEvents is forbidden for watch");
  }
  connection.reply_status(404, "NotFound", "the fake server does not know this path");
}

void FakeApiServer::serve_list(const FakeRequest& request, FakeConnection& connection) {
  std::string items;
  std::string after;
  std::int64_t version = 0;
  bool more = false;
  {
    MutexLock lock(mutex_);
    version = version_;
    if (const auto at = request.query.find("continue"); at != request.query.end()) {
      const auto slash = at->second.find('|');
      version = std::stoll(at->second.substr(0, slash));
      after = at->second.substr(slash + 1);
      if (version < oldest_) version = -1;
    }
    std::size_t left = std::stoul(request.query.at("limit"));
    const auto& objects = resources_[request.path].objects;
    for (auto at = after.empty() ? objects.begin() : objects.upper_bound(after);
         at != objects.end(); ++at) {
      if (left-- == 0) {
        more = true;
        break;
      }
      items += (items.empty() ? "" : ",") + at->second;
      after = at->first;
    }
  }
  if (version < 0) return connection.reply(410, kExpired);
  connection.reply(200, format(R"({{"kind":"List","apiVersion":"v1","metadata":{{)"
                               R"("resourceVersion":"{}","continue":"{}"}},"items":[{}]}})",
                               version, more ? format("{}|{}", version, after) : "", items));
}

void FakeApiServer::serve_watch(const FakeRequest& request, FakeConnection& connection,
                                bool initial) {
  std::vector<std::string> frames;
  std::uint64_t sent = 0;  // the serial
  std::int64_t from = 0;
  {
    MutexLock lock(mutex_);
    from = version_;
    if (initial) {
      sent = serial_;
      for (const auto& [key, object] : resources_[request.path].objects)
        frames.push_back(frame_of("ADDED", object));
      frames.push_back(frame_of("BOOKMARK", bookmark_object(version_, true)));
    } else {
      from = std::stoll(request.query.at("resourceVersion"));
      if (from < oldest_) frames.push_back(frame_of("ERROR", kExpired));
      if (from > version_)
        frames.push_back(
            frame_of("ERROR", format(R"({{"kind":"Status","code":504,"reason":"Timeout","message":)"
                                     R"("Too large resource version: {}, current: {}"}})",
                                     from, version_)));
    }
  }
  connection.begin_stream();
  for (const std::string& frame : frames)
    connection.frame(frame);
  if (!initial && !frames.empty()) return connection.end_stream();
  while (connection.open() && !stopping_ && !connection.peer_is_gone()) {
    std::vector<std::string> news;
    {
      MutexLock lock(mutex_);
      const auto& events = resources_[request.path].events;
      if (events.empty() || events.back().serial <= sent) happened_.wait_for_s(mutex_, 0.05);
      for (const Event& event : events) {
        if (event.serial <= sent) continue;
        sent = event.serial;
        if (event.version > from || (event.type == "BOOKMARK" && event.version == from))
          news.push_back(frame_of(event.type, event.object));
      }
    }
    for (const std::string& frame : news)
      connection.frame(frame);
  }
}

}  // namespace slackline::test
