#!/bin/sh
# Fails when a pure layer refers to clocks, threads, files, sockets, randomness or logging.
# usage: check_purity.sh NM ARCHIVE...
set -eu
nm=$1
shift
# Mangled C++ and plain C names. Static locals need the guard functions of the C++ runtime: allowed.
impure='clock_gettime|gettimeofday|[0-9](system|steady|high_resolution)_clock|_Z?N?St6chrono.*3nowE|^time$|localtime'
impure="$impure|pthread_|^thrd_|St6thread|_ZNSt5mutex|condition_variable|St15__exception_ptr.*future|_ZNSt13__future"
impure="$impure|^f?open(64)?$|^(f|p)?(read|write|printf|puts|close|sync)$|^(std(in|out|err))$|^getenv$|basic_(i|o)?(f)?stream|basic_filebuf|St10filesystem|_ZSt4c(out|err|log|in)"
impure="$impure|^(socket|connect|bind|listen|accept|send|recv|poll|select|epoll_.*|getaddrinfo)$"
impure="$impure|random_device|^s?rand(om)?(_r)?$|^[dlm]rand48|getrandom|getentropy"
impure="$impure|spdlog|syslog|sqlite3_|curl_|simdjson|nlohmann|system_clockEv"

status=0
for archive in "$@"; do
  symbols=$("$nm" --undefined-only --format=just-symbols "$archive" 2>/dev/null | grep -v ':$' | sort -u)
  if [ -z "$symbols" ]; then
    echo "$archive: no symbols read; the check would be blind" >&2
    exit 1
  fi
  found=$(printf '%s\n' "$symbols" | grep -E "$impure" || true)
  if [ -n "$found" ]; then
    echo "$archive is not pure, it refers to:" >&2
    printf '%s\n' "$found" | sed 's/^/  /' >&2
    status=1
  fi
done
exit $status
