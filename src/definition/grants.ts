import type { Definition } from '../machine/index.ts';
import type { Grant, GrantChanges } from '../schema/index.ts';
import { canonical, hashJson } from './hash-definition.ts';
import { commandsOf } from './list-gates.ts';

/** Everything in a workflow that can act, in a fixed order; prose is not part of it. */
export function grantsOf(definition: Definition): Grant[] {
  const { setup, copy = [] } = definition.worktree ?? {};
  const commands = [
    ...commandsOf(definition).map((run): Grant => ({ run })),
    ...(setup === undefined ? [] : [{ setup }]),
  ];
  const copies = copy.map((path): Grant => ({ copy: path }));
  const defaults = Object.entries(commands.length === 0 ? {} : (definition.inputs ?? {})).flatMap(
    ([input, { default: value }]): Grant[] => (value === undefined ? [] : [{ input, default: value }]),
  );
  const agents = Object.entries(definition.agents ?? {}).flatMap(
    ([agent, { tools, cannot, permissions }]): Grant[] => [
      ...(tools ? [{ agent, tools: tools.toSorted() }] : []),
      ...(cannot ? [{ agent, cannot: cannot.toSorted() }] : []),
      ...(permissions === undefined ? [] : [{ agent, permissions }]),
    ],
  );
  return [...commands, ...copies, ...defaults, ...agents];
}

/** Tools and permissions of agents act only through a host, which asks for them itself. */
export const needsTrust = (definition: Definition): boolean =>
  commandsOf(definition).length > 0 || definition.worktree !== undefined;

/** Their order does not count. */
export const hashGrants = (grants: readonly Grant[]): string => hashJson(grants.map(canonical).sort());

export function compareGrants(before: readonly Grant[], after: readonly Grant[]): GrantChanges {
  const missingIn = (others: readonly Grant[]) => {
    const known = new Set(others.map(canonical));
    return (grant: Grant): boolean => !known.has(canonical(grant));
  };
  return { added: after.filter(missingIn(before)), removed: before.filter(missingIn(after)) };
}
