/** The results of `count` pieces of work, of which so many run at once. */
export async function inParallel<T>(
  count: number,
  atOnce: number,
  work: (number: number) => Promise<T>,
): Promise<T[]> {
  const results: T[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) {
      const number = next;
      next += 1;
      results[number] = await work(number);
    }
  };
  await Promise.all(Array.from({ length: Math.min(count, atOnce) }, worker));
  return results;
}
