/** Processor time of this process in milliseconds since the call. */
export function cpuTimer(): () => number {
  const before = process.cpuUsage();
  return () => {
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  };
}

/** A fixed piece of work: some 10 ms on a machine that is quick and idle. */
function referenceWork(): number {
  const spent = cpuTimer();
  let text = '';
  for (let round = 0; round < 10; round += 1) {
    const rows = Array.from({ length: 1000 }, (_, index) => ({
      id: `r${(index * 7919) % 1000}`,
      index,
      text,
    }));
    rows.sort((a, b) => (a.id < b.id ? -1 : 1));
    text = JSON.stringify(JSON.parse(JSON.stringify(rows))).slice(0, 100);
  }
  return spent();
}

/**
 * Returns how many times the processor time of a fixed piece of work has been spent since the call. Both are
 * measured in this process, one right around the other, so that a slow or busy machine changes neither.
 */
export function costMeter(): () => number {
  const before = referenceWork();
  const spent = cpuTimer();
  return () => {
    const cost = spent();
    return cost / Math.max(before, referenceWork(), 1);
  };
}
