/**
 * Loaded into the attacked server before its own code: measures it from inside, and resolves names as an attacker's
 * name server would.
 */
import dns from 'node:dns';
import { renameSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { isMainThread } from 'node:worker_threads';

/** What the server has shown since it started. */
export interface Probed {
  /** The most processor time between two ticks of the main thread: at least its longest turn. */
  longestBlockMs: number;
  peakMb: number;
  /** Names that were resolved. */
  resolved: number;
}

/** Public by its prefix, and nobody's. */
const unallocated = '2d00::1';
const tickMs = 10;
const writeMs = 100;
const file = process.env.STEPFAST_ATTACK_PROBE;

if (file !== undefined && isMainThread) {
  const seen: Probed = { longestBlockMs: 0, peakMb: 0, resolved: 0 };
  rebind(seen);
  // Compiling and connecting at the start is no attack.
  setTimeout(() => measure(seen, file), 1_000).unref();
}

function measure(seen: Probed, path: string): void {
  let last = process.threadCpuUsage();
  setInterval(() => {
    const now = process.threadCpuUsage();
    const ms = (now.user + now.system - last.user - last.system) / 1000;
    last = now;
    seen.longestBlockMs = Math.max(seen.longestBlockMs, ms);
    seen.peakMb = Math.max(seen.peakMb, process.memoryUsage.rss() / 1024 ** 2);
  }, tickMs).unref();
  setInterval(() => {
    writeFileSync(`${path}.new`, JSON.stringify(seen));
    renameSync(`${path}.new`, path);
    seen.longestBlockMs = 0;
    last = process.threadCpuUsage();
  }, writeMs).unref();
}

/** A public address at first, then this machine. */
function rebind(seen: Probed): void {
  const real = dns.lookup;
  const known = new Set<string>();
  const fake = (name: string, ...rest: unknown[]): void => {
    const answer = rest.at(-1);
    if (!name.endsWith('.rebind.example') || typeof answer !== 'function') {
      Reflect.apply(real, dns, [name, ...rest]);
      return;
    }
    seen.resolved += 1;
    const isFirst = name.startsWith('later') && !known.has(name);
    known.add(name);
    const [options] = rest;
    const all = typeof options === 'object' && options !== null && 'all' in options && options.all === true;
    const [address, family] = isFirst ? [unallocated, 6] : ['127.0.0.1', 4];
    setImmediate(() => (all ? answer(null, [{ address, family }]) : answer(null, address, family)));
  };
  Object.assign(dns, { lookup: fake });
  syncBuiltinESMExports();
}
