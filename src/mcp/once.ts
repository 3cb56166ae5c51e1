/** Calls the function once and returns the same promise to every caller. */
export function once<T>(act: () => Promise<T>): () => Promise<T> {
  let first: Promise<T> | undefined;
  return () => {
    first ??= act();
    return first;
  };
}
