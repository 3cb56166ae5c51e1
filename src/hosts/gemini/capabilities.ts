import type { Capability } from '../../runtime/index.ts';
import type { Registration } from '../claude-format/index.ts';

/** As of Gemini CLI 0.61.0. */
export const capabilities: readonly Capability[] = [
  { kind: 'session_start', event: 'SessionStart', tells: 'context', note: 'startup, resume, clear' },
  {
    kind: 'prompt',
    event: 'BeforeAgent',
    tells: 'context',
    note: 'also after a compression, which no event follows',
  },
  {
    kind: 'before_tool',
    event: 'BeforeTool',
    tells: 'context and deny',
    note: 'denies tools that an agent cannot use; injects nothing',
  },
  { kind: 'after_tool', event: 'AfterTool', tells: 'context', note: 'is appended to the result' },
  {
    kind: 'before_compact',
    event: 'PreCompress',
    tells: 'nothing',
    note: 'only a manual one: the automatic event comes before every request of the model',
  },
  { kind: 'stop', event: 'AfterAgent', tells: 'block', note: 'the reason is the next prompt' },
  { kind: 'session_end', event: 'SessionEnd', tells: 'nothing', note: 'is not waited for' },
];

const own = 'mcp_stepfast_.*';

/** Times in seconds, as everywhere; the host's file has milliseconds. */
export const registrations: readonly Registration[] = [
  { event: 'SessionStart', mark: 'session_start', timeout: 15 },
  { event: 'SessionEnd', mark: 'session_end', timeout: 5 },
  { event: 'BeforeAgent', mark: 'prompt', timeout: 15 },
  { event: 'PreCompress', matcher: 'manual', mark: 'before_compact', timeout: 15 },
  { event: 'AfterAgent', mark: 'stop', timeout: 60, status: 'Stepfast checks the work' },
  { event: 'BeforeTool', matcher: '^(?!mcp_stepfast_).*', mark: 'before_tool', timeout: 10 },
  { event: 'BeforeTool', matcher: own, mark: 'before_tool-stepfast', timeout: 10 },
  { event: 'AfterTool', matcher: own, mark: 'after_tool-stepfast', timeout: 15 },
  { event: 'AfterTool', matcher: 'read_file', mark: 'after_tool-read', timeout: 15 },
  { event: 'AfterTool', matcher: 'write_file|replace', mark: 'after_tool-write', timeout: 15 },
  { event: 'AfterTool', matcher: 'run_shell_command', mark: 'after_tool-shell', timeout: 15 },
];
