/** Lets so many callers through in each turn of the event loop; the others wait for the next, in order. */
export function createAdmission(perTurn: number): () => Promise<void> {
  const waiting: (() => void)[] = [];
  let left = perTurn;
  return async () => {
    if (left === 0) return await new Promise((resolve) => void waiting.push(resolve));
    if (left === perTurn) setImmediate(renew);
    left -= 1;
  };

  function renew(): void {
    const next = waiting.splice(0, perTurn);
    left = perTurn - next.length;
    if (next.length > 0) setImmediate(renew);
    for (const resolve of next) resolve();
  }
}
