import type { HookInput, HookKind, Host, ToolKind } from '../../src/runtime/index.ts';

/**
 * An invented host that differs from the real ones in everything: names of events and keys, no transcript, no ids of
 * prompts, and only a hint before a compaction. It shows that a host is one object and nothing else.
 */
export const tinyHost: Host = {
  name: 'tiny',
  capabilities: [{ kind: 'before_compact', event: 'shrinking', tells: 'summariser', note: '' }],
  variables: { agent: ['TINY_AGENT'], internal: [], project: 'TINY_FOLDER' },
  limits: { contextCharacters: 4000, toolHookMs: 3000, stopHookMs: 20_000, stopCheckMs: 10_000 },
  compaction: 'hint',
  commands: /^\/stepfast:/,
  parse(event, payload) {
    const kind = Object.hasOwn(kinds, event) ? kinds[event] : undefined;
    if (kind === undefined || typeof payload !== 'object' || payload === null) return undefined;
    const { talk, folder, helper, using, how, again, number, words } = payload as TinyPayload;
    if (typeof talk !== 'string' || typeof folder !== 'string') return undefined;
    const id = number === undefined ? {} : { id: String(number) };
    const agent = helper === undefined ? {} : { agent: { id: helper.id, type: helper.role } };
    return { host: 'tiny', kind, session: talk, cwd: folder, ...id, ...agent, ...own(kind) };

    function own(of: HookKind): Partial<HookInput> {
      if (of === 'session_start') return { source: how === 'back' ? 'resume' : 'startup' };
      if (of === 'stop' || of === 'subagent_stop') return { stopActive: again === true };
      if (of === 'prompt') return words === undefined ? {} : { prompt: words };
      if (of === 'session_end') return { cleared: how === 'wiped' };
      return using === undefined ? {} : { tool: toolOf(using) };
    }
  },
  render(_, { context, deny, block, survive, say }) {
    const lines = Object.entries({ context, deny, block, survive, say }).flatMap(([name, text]) =>
      text === undefined ? [] : `${name} ${JSON.stringify(text)}\n`,
    );
    return { stdout: lines.join(''), exitCode: 0 };
  },
};

const kinds: Readonly<Record<string, HookKind>> = {
  hello: 'session_start',
  bye: 'session_end',
  said: 'prompt',
  will: 'before_tool',
  did: 'after_tool',
  shrinking: 'before_compact',
  done: 'stop',
  'helper-in': 'subagent_start',
  'helper-out': 'subagent_stop',
};

interface TinyTool {
  verb: string;
  file?: string;
  at?: string;
  result?: { run?: string; at?: string };
  role?: string;
  words?: string;
}

export interface TinyPayload {
  talk?: unknown;
  folder?: unknown;
  helper?: { id: string; role: string };
  using?: TinyTool;
  how?: string;
  again?: boolean;
  number?: number;
  words?: string;
}

const toolKinds: Readonly<Record<string, ToolKind>> = {
  look: 'read',
  put: 'write',
  shell: 'shell',
  help: 'agent',
};

function toolOf({ verb, file, at, result, role, words }: TinyTool): NonNullable<HookInput['tool']> {
  if (verb.startsWith('stepfast/'))
    return {
      name: verb,
      kind: 'stepfast',
      call: verb.slice('stepfast/'.length),
      ...(at === undefined ? {} : { at }),
      ...(result === undefined ? {} : { answer: { ...result, refused: false } }),
    };
  const kind = toolKinds[verb] ?? 'other';
  return {
    name: verb,
    kind,
    ...(file === undefined ? {} : { path: file }),
    ...(kind === 'read' ? { whole: true } : {}),
    ...(role === undefined ? {} : { agent: role }),
    ...(words === undefined ? {} : { prompt: words }),
  };
}
