import type { CallName } from './fault-files.ts';
import type { Process } from './scheduler.ts';

/** What happened, in order: two histories with the same digest went the same way. */
export interface Trace {
  call(process: Process, name: CallName, path: string, outcome: string | number): void;
  answer(agent: number, command: string, outcome: string): void;
  digest(): string;
}

export function createTrace(log?: (line: string) => void): Trace {
  let low = 0x811c9dc5;
  let high = 0x01000193;

  const take = (line: string): void => {
    for (let index = 0; index < line.length; index += 1) {
      low = Math.imul(low ^ line.charCodeAt(index), 0x01000193);
      high = Math.imul(high ^ low, 0x85ebca6b);
    }
    log?.(line);
  };

  return {
    call: (process, name, path, outcome) => take(`p${process.number} ${name} ${path} ${outcome}`),
    answer: (agent, command, outcome) => take(`  agent ${agent} ${command}: ${outcome}`),
    digest: () => ((BigInt(high >>> 0) << 32n) | BigInt(low >>> 0)).toString(16).padStart(16, '0'),
  };
}
