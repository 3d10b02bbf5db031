#!/bin/sh
# The questions of `slackline` for systems that it is not built for: POSIX sh with curl, or with kubectl alone.
# As a plug-in of kubectl: put it into the PATH under the name kubectl-slackline, and once more under the name
# kubectl_complete-slackline, so that kubectl's completion knows its commands and tasks.
#
#   slackline.sh queue|tasks|nodes|cluster|history|models [NAMESPACE/NAME] [-n NAMESPACE] [-o OUTPUT]
#   slackline.sh why|eta|placements NAMESPACE/NAME [--node NODE] [-o OUTPUT]
#   slackline.sh quote -f FILE [-n NAMESPACE] [--deadline 24h] [-o OUTPUT]
#   slackline.sh whatif --drain NODE | --add 4xA100x8 | --policy POLICY
#   slackline.sh calendar [--type A100] [--days 3]
#
# OUTPUT: table (default), wide, json, yaml or csv.
# SLACKLINE_SERVER, SLACKLINE_TOKEN, SLACKLINE_CA: the address of REST, a token, the file of its CA. Without
# SLACKLINE_SERVER: kubectl reads through the API server's service proxy (deploy/proxy), by your own kubeconfig;
# SLACKLINE_SERVICE is the Service's path, if it is another one. That listener answers no quote.
#
# Exit codes are those of `slackline`: 0 yes, 1 no and 4 too little data (of why and eta), 2 wrong usage, 3 it failed.
set -eu

service=${SLACKLINE_SERVICE:-/api/v1/namespaces/slackline-system/services/slackline-view/proxy}

usage() {
  sed -n '2,/^set -eu/s/^# \{0,1\}//p' "$0" | sed '$d'
  exit "$1"
}

wrong() {
  echo "slackline.sh: $1; --help shows how" >&2
  exit 2
}

# Text as a part of a URL.
encoded() {
  printf '%s' "$1" | LC_ALL=C od -An -v -tx1 | tr ' ' '\n' | while read -r byte; do
    case $byte in
      "") ;;
      2d | 2e | 2f | 3[0-9] | 4[1-9a-f] | 5[0-9a] | 5f | 6[1-9a-f] | 7[0-9a] | 7e) printf '%b' "\\0$(printf %03o "0x$byte")" ;;
      *) printf '%%%s' "$byte" ;;
    esac
  done
}

add() { # NAME VALUE
  [ -z "$2" ] || query="$query&$1=$(encoded "$2")"
}

ask() { # PATH-AND-QUERY [FILE]
  if [ -z "${SLACKLINE_SERVER:-}" ]; then
    [ $# -eq 1 ] || wrong "quote needs SLACKLINE_SERVER: the service proxy's listener only reads"
    kubectl get --raw "$service$1" || exit 3
    return
  fi
  url=${SLACKLINE_SERVER%/}$1
  set -- ${2:+--data-binary "@$2" -H "Content-Type: application/yaml"}
  [ -z "${SLACKLINE_CA:-}" ] || set -- "$@" --cacert "$SLACKLINE_CA"
  # The token stands in no argument, which other users could see.
  answer=$(printf '%s' "${SLACKLINE_TOKEN:+header = \"Authorization: Bearer $SLACKLINE_TOKEN\"}" |
    curl -sS --max-time 60 -w '\n%{http_code}' -K - "$@" "$url") || exit 3
  status=${answer##*
}
  body=${answer%
*}
  case $status in
    2*) printf '%s\n' "$body" ;;
    *)
      printf 'slackline.sh: %s (HTTP %s)\n' "$body" "$status" >&2
      exit 3
      ;;
  esac
}

# The exit code of an answer in JSON about one task.
standing() {
  case $(printf '%s' "$1" | tr -d '\n' | sed -n 's/.*"standing": *"\([a-z]*\)".*/\1/p') in
    starts) return 0 ;;
    waits | misses) return 1 ;;
    *) return 4 ;;
  esac
}

# The choices for the last word, one a line, as kubectl asks for them; ":4": no files.
choices() { # WORD...
  if [ $# -le 1 ]; then
    printf '%s\n' calendar cluster eta history models nodes placements queue quote tasks whatif why | grep "^${1:-}"
  else
    for last in "$@"; do :; done
    case $1 in
      why | eta | placements | queue)
        # The column `name` is NAMESPACE/NAME.
        ask "/v1/queue?output=csv&limit=1000" 2>/dev/null | awk -F, -v begin="$last" '
          NR == 1 { for (i = 1; i <= NF; ++i) if ($i == "name") at = i }
          NR > 1 && index($at, begin) == 1 { print $at }'
        ;;
    esac
  fi
  echo :4
}

case ${0##*/} in
  kubectl_complete-*)
    choices "$@" || echo :4
    exit
    ;;
esac

[ $# -gt 0 ] || usage 2
command=$1
shift
task='' namespace='' output=table query='' file=''
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help) usage 0 ;;
    -n | --namespace | -o | --output | -f | --filename | --node | --deadline | --drain | --add | --policy | --type | --days | --since)
      [ $# -gt 1 ] || wrong "$1 needs a value"
      case $1 in
        -n | --namespace) namespace=$2 ;;
        -o | --output) output=$2 ;;
        -f | --filename) file=$2 ;;
        *) add "${1#--}" "$2" ;;
      esac
      shift
      ;;
    -*) wrong "unknown flag $1" ;;
    *) task=$1 ;;
  esac
  shift
done
case $task in
  */*) namespace=${task%%/*} name=${task#*/} ;;
  *) name=$task ;;
esac

case $command in
  -h | --help | help) usage 0 ;;
  queue | history | nodes | cluster | models | whatif | calendar | tasks)
    add namespace "$namespace"
    [ "$command" != queue ] || add name "$name"
    ask "/v1/$command?output=$output$query"
    ;;
  why | eta | placements)
    [ -n "$name" ] || wrong "$command needs NAMESPACE/NAME"
    what=$command
    [ "$command" != why ] || what=explain
    path="/v1/tasks/$(encoded "${namespace:-default}")/$(encoded "$name")/$what"
    ask "$path?output=$output$query"
    [ "$command" = placements ] || standing "$(ask "$path?output=json$query")"
    ;;
  quote)
    [ -r "$file" ] || wrong "quote needs -f FILE"
    ask "/v1/quote?namespace=$(encoded "${namespace:-default}")&output=$output$query" "$file"
    ;;
  *) wrong "unknown command $command" ;;
esac
