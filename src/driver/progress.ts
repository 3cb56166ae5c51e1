import type { ContextAction } from '../machine/index.ts';

/** Who must act before the run goes on. */
export type WaitsFor = 'person' | 'model_service' | 'merge';

/** What happens while a run is driven, for a screen or a log. `worker` tells parallel tasks apart. */
export type Progress =
  | { type: 'taken'; run: string; workflow: string; branch?: string; worktree: string }
  | { type: 'session'; worker: string; session: string; agent?: string; why: SessionReason }
  | { type: 'turn'; worker: string; at: string; title: string }
  | { type: 'tool'; worker: string; name: string; detail?: string }
  | { type: 'said'; worker: string; text: string }
  | { type: 'denied'; worker: string; tool: string }
  | { type: 'checking'; worker: string; at: string }
  | { type: 'boundary'; worker: string; context: ContextAction; how: 'new_session' | 'compacted' }
  | { type: 'retry'; worker: string; status?: number; until?: number }
  | { type: 'leftover'; worker: string; command: string }
  | { type: 'committed'; worker: string; commit: string }
  | { type: 'interrupted'; worker: string; why: 'idle' | 'done' | 'budget' }
  | {
      type: 'merge';
      task: string;
      state: 'merging' | 'merged' | 'conflict' | 'red' | 'held';
      detail?: string;
    }
  | { type: 'waits'; for: WaitsFor; reason: string }
  | { type: 'over'; end: string };

/** Why a session begins. */
export type SessionReason =
  | 'start'
  | 'clear'
  | 'compact_failed'
  | 'no_progress'
  | 'ended'
  | 'review'
  | 'claim';
