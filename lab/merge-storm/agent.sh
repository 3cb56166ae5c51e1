# What the agent of a task does in one turn, in the worktree of the task. The state of the worktree decides what is left
# to do, so that a turn that was interrupted begins again. STORM is a folder of the storm's own, outside of the repository.
set -u
t=$STORM_TASK
echo "$t" >>"$STORM/visits"
for each in $STORM_DEPENDS_ON; do
  [ -e "entries/$each.txt" ] || echo "$t began before $each was merged" >>"$STORM/early"
done
sleep "$STORM_SECONDS"

does() { case " $STORM_DOES " in *" $1 "*) return 0 ;; *) return 1 ;; esac; }
did() { echo "$t $1" >>"$STORM/did"; }
commit() {
  git add -A && git commit -q -m "$t: $1" && echo "$t $(git rev-parse HEAD)" >>"$STORM/commits"
}
next_number() { echo $(($(cat numbers/* | sort -n | tail -n 1) + 1)); }
push_library() { git -C lib push -q origin HEAD:main; }
change_library() {
  git -C lib fetch -q && git -C lib checkout -q --detach origin/main || return
  echo "$t" >"lib/$t.txt"
  git -C lib add -A && git -C lib commit -q -m "$t"
}

back=$STORM/back-$t
merging=$(git rev-parse -q --verify MERGE_HEAD)
if [ -e "$STORM/worked-$t" ]; then
  # Its merge failed, or the driver was killed.
  echo x >>"$back"
  [ "$(wc -l <"$back")" -gt "$STORM_BAD" ] || exit 0
fi

if [ -n "$merging" ]; then
  git diff --name-only --diff-filter=U | while read -r file; do
    case $file in
      lib) git -C lib fetch -q && git -C lib checkout -q --detach origin/main && git add lib ;;
      *) sed -i -e '/^<<<<<<< /d' -e '/^=======$/d' -e '/^>>>>>>> /d' "$file" ;;
    esac
  done
fi

if ! grep -qs "work of $t" "entries/$t.txt"; then
  echo "work of $t" >>"entries/$t.txt"
  did entry
fi
if does shared && ! grep -q "^$t\$" shared.txt; then
  echo "$t" >>shared.txt
  did shared
fi
[ "$STORM_LEAVES" != half ] || [ -n "$merging" ] || commit 'the first half'
if does number; then
  if [ ! -e "numbers/$t.txt" ]; then
    next_number >"numbers/$t.txt"
    did number
  elif [ -n "$(cat numbers/* | sort | uniq -d)" ]; then
    next_number >"numbers/$t.txt"
  fi
fi
if does lock && [ ! -e "parts/$t/package-lock.json" ]; then
  mkdir -p "parts/$t"
  echo "$t" >"parts/$t/package-lock.json"
  did lock
fi
if does submodule && [ ! -e "lib/$t.txt" ]; then
  # Another agent may have pushed meanwhile.
  for _ in 1 2 3 4 5; do change_library && push_library && break; done
  did submodule
fi
if does unpushed; then
  if [ ! -e "lib/$t.txt" ]; then
    change_library
    did submodule
  else
    push_library 2>"$STORM/push-$t" || { git -C lib fetch -q && git -C lib merge -q --no-edit origin/main && push_library; }
  fi
fi
echo x >"$STORM/worked-$t"
[ "$STORM_LEAVES" = nothing ] && commit 'the work'
exit 0
