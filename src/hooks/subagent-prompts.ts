import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { handlesIn } from './handles-in-text.ts';
import { makeFolder, names, readJson, unlinkQuietly } from './session-files.ts';

/**
 * The prompts of subagents that are about to start. The hook before the call has the prompt, the one at the start of
 * the subagent does not.
 */
export interface SubagentPrompts {
  add(prompt: SubagentPrompt): void;
  /**
   * The oldest waiting prompt of this type. undefined where several name different positions and were called together:
   * such subagents start in any order.
   */
  take(agent: string | undefined): SubagentPrompt | undefined;
  /** A turn began: calls that were denied never start. */
  drop(): void;
}

export interface SubagentPrompt {
  agent?: string | undefined;
  prompt: string;
  /** Equal for calls that the model made together; undefined where the host cannot say. */
  group?: string | undefined;
}

const named = /^prompt-(\d+)\.json$/;

export function openSubagentPrompts(folder: string): SubagentPrompts {
  return { add, take, drop };

  function add(prompt: SubagentPrompt): void {
    try {
      makeFolder(folder);
      for (let next = (waiting().at(-1)?.number ?? 0) + 1; ; next += 1)
        if (created(join(folder, `prompt-${next}.json`), JSON.stringify(prompt))) return;
    } catch {
      // The subagent then starts without a briefing, and its first call brings it.
    }
  }

  function take(agent: string | undefined): SubagentPrompt | undefined {
    const found = waiting().flatMap(({ file }) => {
      // Only `add` and `take` write them.
      const prompt = readJson(file) as SubagentPrompt | undefined;
      const other = agent !== undefined && prompt?.agent !== undefined && prompt.agent !== agent;
      return prompt && !other ? [{ file, prompt }] : [];
    });
    const [first, ...others] = found;
    if (!first) return undefined;
    unlinkQuietly(first.file);
    const positions = ({ prompt }: SubagentPrompt): string => handlesIn(prompt).join(' ');
    const alike = others.every(({ prompt }) => positions(prompt) === positions(first.prompt));
    const groups = found.flatMap(({ prompt }) => prompt.group ?? []);
    const oneByOne = groups.length === found.length && new Set(groups).size === groups.length;
    if (alike || oneByOne) return first.prompt;
    // Which of them is which stays unknown, also when only one of them is left.
    for (const { file, prompt } of others) {
      unlinkQuietly(file);
      created(file, JSON.stringify({ ...prompt, prompt: '' }));
    }
    return undefined;
  }

  function drop(): void {
    for (const { file } of waiting()) unlinkQuietly(file);
  }

  /** In the order of the calls. */
  function waiting(): { file: string; number: number }[] {
    return names(folder)
      .flatMap((name) => {
        const number = named.exec(name)?.[1];
        return number === undefined ? [] : [{ file: join(folder, name), number: Number(number) }];
      })
      .sort((one, other) => one.number - other.number);
  }
}

/** False where the file exists: a concurrent hook took the number. */
function created(file: string, text: string): boolean {
  try {
    writeFileSync(file, text, { flag: 'wx' });
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
}
