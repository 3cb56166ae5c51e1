import { type ComponentType, type JSX, lazy } from 'react';

type Lazy<P> = ((props: P) => JSX.Element) & { fetch(): Promise<void> };

/** Like `lazy`, but shown at once if `fetch` is done: React shows what follows a fallback up to 300 ms late. */
export function lazily<P extends object>(load: () => Promise<{ default: ComponentType<P> }>): Lazy<P> {
  let Loaded: ComponentType<P> | undefined;
  const loadOnce = async () => {
    const module = await load();
    Loaded = module.default;
    return module;
  };
  // `lazy` keeps the properties of the component; its type is too wide to say so.
  const Later = lazy(loadOnce) as unknown as ComponentType<P>;
  const Shown = (props: P): JSX.Element => (Loaded ? <Loaded {...props} /> : <Later {...props} />);
  return Object.assign(Shown, { fetch: async () => void (await loadOnce()) });
}
