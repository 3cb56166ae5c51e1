#!/bin/sh
# stepfast-hook.sh MARK HOST EVENT [wake]: starts Stepfast only where something asks for this event; else costs a file test.
# Upwards from where the host is, a project's mark says so. A linked worktree's .git is a file that names the way to
# the main one, where runs and marks are. Before a compaction and at a session's start, work without
# Stepfast counts as well. A call of
# Stepfast's own tools needs no mark: it may start the first run.
m=sessions/marks/$1
w= p= l=
f() {
  d=$1 r=
  while [ -n "$d" ]; do
    [ -e "$d/.stepfast/$m" ] && return 0
    [ "$l" ] && [ -e "$l$d/run" ] && [ ! -d "$d/.stepfast/sessions" ] && return 0
    [ "$w" ] && [ -d "$d/untracked/workflow-state" ] && return 0
    [ "$w" = 1 ] && { [ -e "$d/CLAUDE.local.md" ] || [ -d "$d/CLAUDE/Plan" ]; } && return 0
    if [ -f "$d/.git" ]; then
      read -r _ g <"$d/.git"
      case $g in /*) ;; *) g=$d/$g ;; esac
      [ -f "$g/commondir" ] && read -r c <"$g/commondir" || return 1
      case $c in /*) ;; *) c=$g/$c ;; esac
      while :; do
        [ -e "$c/../$r.stepfast/$m" ] || [ -e "$c/$r.stepfast/$m" ] && return 0
        [ "$r" ] || return 1
        case $r in */*/*) r=${r%/}; r=${r%/*}/ ;; *) r= ;; esac
      done
    fi
    [ -d "$d/.git" ] && return 1
    r=${d##*/}/$r
    d=${d%/*}
  done
  return 1
}
case $1 in before_compact) w=1 ;; session_start) w=2 ;; esac
# Where the files of a run were deleted, also after its end, the person is told.
case $1 in stop | prompt) l=${XDG_CACHE_HOME:-$HOME/.cache}/stepfast/live ;; esac
if [ "$1" != before_tool-stepfast ] && ! f "$PWD" && ! { [ "$CLAUDE_PROJECT_DIR" ] && f "$CLAUDE_PROJECT_DIR"; }; then
  # A person may type a command that starts the first run.
  [ "$1" = prompt ] || exit 0
  p=$(cat)
  case $p in *'"/stepfast'* | *'"$stepfast'*) ;; *) exit 0 ;; esac
fi
# Without them no hook fails: it is said once a session, where a person sees it.
s() {
  t="Stepfast: $1, so this session is not told of the run under way"
  [ "$2" = SessionStart ] && echo "{\"systemMessage\":\"$t\"}" || echo "$t" >&2
  exit 0
}
b=${0%/*}/../dist/hook.cjs
[ -f "$b" ] && [ -f "${b%.cjs}-main.cjs" ] || s 'the plugin is not built (npm run build) or not complete' "$3"
command -v node >/dev/null 2>&1 || s 'node is not on the PATH' "$3"
[ "$p" ] || exec node "$b" --host "$2" "$3" $4
printf '%s' "$p" | exec node "$b" --host "$2" "$3"
