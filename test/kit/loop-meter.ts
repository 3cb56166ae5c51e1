/**
 * Preloaded into a server (`--import`): measures what the turns of its event loop cost. Writes JSON to the file in
 * LOOP_METER whenever the process gets SIGUSR2, and begins anew.
 */
import { writeFileSync } from 'node:fs';

const everyMs = 5;
const file = process.env.LOOP_METER ?? '';

const spent = (): number => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
};

let [last, longest, peak] = [spent(), 0, 0];
// A timer runs once a turn, so what the thread spends between two of its calls is at most a turn and `everyMs`.
setInterval(() => {
  const now = spent();
  longest = Math.max(longest, now - last - everyMs);
  last = now;
  peak = Math.max(peak, process.memoryUsage.rss());
}, everyMs).unref();

process.on('SIGUSR2', () => {
  writeFileSync(file, JSON.stringify({ longestMs: Math.round(longest), peakMb: Math.round(peak / 2 ** 20) }));
  [longest, peak, last] = [0, 0, spent()];
});
