import type { Capability } from '../../runtime/index.ts';
import type { Registration } from '../claude-format/index.ts';

/** Name the version that you recorded. */
export const capabilities: readonly Capability[] = [
  { kind: 'session_start', event: 'session.opened', tells: 'context', note: 'new, resumed' },
  { kind: 'prompt', event: 'prompt.sent', tells: 'context', note: 'also the first after a compaction' },
  {
    kind: 'before_tool',
    event: 'tool.starting',
    tells: 'context and deny',
    note: 'denies tools that an agent cannot use',
  },
  { kind: 'after_tool', event: 'tool.finished', tells: 'context', note: '' },
  {
    kind: 'before_compact',
    event: 'context.compacting',
    tells: 'summariser',
    note: 'no event follows the compaction',
  },
  { kind: 'stop', event: 'turn.ending', tells: 'block', note: 'the program sets no bound' },
  { kind: 'subagent_start', event: 'agent.started', tells: 'context', note: 'reaches the subagent' },
  { kind: 'subagent_stop', event: 'agent.ended', tells: 'block', note: '' },
  { kind: 'session_end', event: 'session.closed', tells: 'nothing', note: '' },
];

const own = 'stepfast\\..*';

/** Several for one event where tools differ in when they matter. Times in seconds. */
export const registrations: readonly Registration[] = [
  { event: 'session.opened', mark: 'session_start', timeout: 15 },
  { event: 'session.closed', mark: 'session_end', timeout: 5 },
  { event: 'prompt.sent', mark: 'prompt', timeout: 15 },
  { event: 'context.compacting', mark: 'before_compact', timeout: 15 },
  { event: 'turn.ending', mark: 'stop', timeout: 60 },
  { event: 'agent.started', mark: 'subagent_start', timeout: 15 },
  { event: 'agent.ended', mark: 'subagent_stop', timeout: 60 },
  { event: 'tool.starting', matcher: own, mark: 'before_tool-stepfast', timeout: 10 },
  { event: 'tool.starting', matcher: 'start_agent', mark: 'before_tool-agent', timeout: 10 },
  { event: 'tool.starting', matcher: '(?!stepfast\\.|start_agent$).*', mark: 'before_tool', timeout: 10 },
  { event: 'tool.finished', matcher: own, mark: 'after_tool-stepfast', timeout: 15 },
  { event: 'tool.finished', matcher: 'read_file', mark: 'after_tool-read', timeout: 15 },
  { event: 'tool.finished', matcher: 'write_file|edit_file', mark: 'after_tool-write', timeout: 15 },
  { event: 'tool.finished', matcher: 'shell', mark: 'after_tool-shell', timeout: 15 },
];
