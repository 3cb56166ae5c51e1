/** The first call's promise for all calls. */
export function once<T>(act: () => Promise<T>): () => Promise<T> {
  let first: Promise<T> | undefined;
  return () => {
    first ??= act();
    return first;
  };
}
