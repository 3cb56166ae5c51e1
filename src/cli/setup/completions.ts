import { readArgs } from '../args.ts';
import { exit, usageError } from '../exit.ts';
import type { Io } from '../io.ts';

export const options = {};

/** Each script passes the line up to the cursor to `stepfast complete`; the shell completes files itself. */
const scripts: Record<string, string> = {
  bash: `_stepfast() {
  local line=\${COMP_LINE:0:COMP_POINT} word prefix=''
  word=\${line##* }
  # bash splits words at colons, so the part before the last colon is already typed.
  [[ $word == *:* && $COMP_WORDBREAKS == *:* ]] && prefix=\${word%"\${word##*:}"}
  COMPREPLY=()
  local candidate
  while IFS=$'\\t' read -r candidate _; do
    [[ -n $candidate ]] && COMPREPLY+=("\${candidate#"$prefix"}")
  done < <(stepfast complete "$line" 2>/dev/null)
}
complete -o default -F _stepfast stepfast
`,
  zsh: `#compdef stepfast
_stepfast() {
  local -a found
  local candidate about
  while IFS=$'\\t' read -r candidate about; do
    [[ -n $candidate ]] && found+=("\${candidate//:/\\\\:}\${about:+:$about}")
  done < <(stepfast complete "\${(j: :)words[1,CURRENT]}" 2>/dev/null)
  if (( \${#found} )); then _describe 'stepfast' found; else _files; fi
}
compdef _stepfast stepfast
`,
  fish: `complete -c stepfast -a '(stepfast complete (commandline -cp) 2>/dev/null)'
`,
};

export function run(args: readonly string[], io: Io): number {
  const { positionals } = readArgs(args, options, { min: 1, max: 1, what: 'shell' });
  const [shell = ''] = positionals;
  const script = Object.hasOwn(scripts, shell) ? scripts[shell] : undefined;
  if (script === undefined) throw usageError(`No completions for '${shell}'. Use bash, zsh or fish.`);
  io.stdout.write(script);
  return exit.ok;
}
