import { useEffect, useState } from 'react';
import { useSearchParams } from 'wouter';

export interface DryRunState {
  /** From 1. */
  move: number;
  tasks: number;
  /** With failures. */
  seed: number | undefined;
}

const defaults: DryRunState = { move: 1, tasks: 2, seed: undefined };
const maxTasks = 9;
/** Browsers refuse more than some changes of the address a second, and a key can be held. */
const addressMs = 250;

const numberIn = (search: URLSearchParams, name: string): number | undefined => {
  const text = search.get(name) ?? '';
  return /^\d{1,9}$/.test(text) ? Number(text) : undefined;
};

export function readState(search: URLSearchParams): DryRunState {
  return {
    move: Math.max(1, numberIn(search, 'move') ?? defaults.move),
    tasks: Math.min(maxTasks, Math.max(1, numberIn(search, 'tasks') ?? defaults.tasks)),
    seed: numberIn(search, 'seed'),
  };
}

export function writeState({ move, tasks, seed }: DryRunState): URLSearchParams {
  const search = new URLSearchParams();
  if (seed !== undefined) search.set('seed', String(seed));
  if (tasks !== defaults.tasks) search.set('tasks', String(tasks));
  if (move !== defaults.move) search.set('move', String(move));
  return search;
}

/** The state of the dry run, also in the address, so that a move can be linked. */
export function useDryRunState(): [DryRunState, (change: Partial<DryRunState>) => void] {
  const [search, setSearch] = useSearchParams();
  const [state, setState] = useState(() => readState(search));
  const written = writeState(state).toString();
  useEffect(() => {
    const timer = setTimeout(() => {
      if (new URLSearchParams(location.search).toString() !== written)
        setSearch(new URLSearchParams(written), { replace: true });
    }, addressMs);
    return () => clearTimeout(timer);
  }, [written, setSearch]);
  return [state, (change) => setState((old) => ({ ...old, ...change }))];
}
