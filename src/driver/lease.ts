import { hostname } from 'node:os';
import type { DriverProcess, State } from '../machine/index.ts';
import { isRefused, type LocalRuntime, type Refused } from '../runtime/index.ts';
import { isAlive } from '../workspace/index.ts';

/** The right to drive a run, for as long as it is renewed. */
export interface Lease {
  readonly epoch: number;
  /** Another driver has taken the run. */
  readonly lost: AbortSignal;
  release(): Promise<void>;
}

const renewMs = 60_000;
const engine = { actor: { kind: 'engine' as const } };

/** Takes the run over. A driver that has died on this machine is replaced at once, any other when its lease runs out. */
export async function takeLease(
  runtime: LocalRuntime,
  run: string,
  branch: string | undefined,
): Promise<Lease | Refused> {
  const boot = runtime.workspace.gates.host;
  const process: DriverProcess = { pid: globalThis.process.pid, machine: hostname(), boot };
  const view = await runtime.engine.view(run);
  const gone = view && goneEpoch(view.state, process);
  const { reply } = await runtime.call({ type: 'drive', change: 'take', process, gone, branch }, engine, {
    run,
  });
  if (isRefused(reply)) return reply;
  const epoch = (await runtime.engine.view(run))?.state.driver?.epoch ?? 0;
  const lost = new AbortController();
  const change = async (what: 'renew' | 'release'): Promise<void> => {
    const answer = await runtime.call({ type: 'drive', change: what, process, epoch }, engine, { run });
    if (isRefused(answer.reply) && answer.reply.code === 'stale_driver') lost.abort();
  };
  // A server that is away is asked again at the next renewal.
  const timer = setInterval(() => void change('renew').catch(() => {}), renewMs);
  timer.unref();
  return {
    epoch,
    lost: lost.signal,
    async release() {
      clearInterval(timer);
      await change('release').catch(() => {});
    },
  };
}

/** Of the last driver, if it ran on this machine and its process is no more. Others may see that at the same time. */
function goneEpoch({ driver }: State, { machine, boot }: DriverProcess): number | undefined {
  if (!driver || driver.process.machine !== machine) return undefined;
  return driver.process.boot === boot && !isAlive(driver.process.pid) ? driver.epoch : undefined;
}
