import { expect, test } from 'vitest';
import { defaultLimits } from './limits.ts';
import type { Principal } from './principal.ts';
import { createShares } from './shares.ts';

const principal = (id: string, agents?: number, project = 1): Principal => ({
  id,
  project: { id: project, name: `p${project}` },
  kind: 'agent',
  name: id,
  scopes: ['read'],
  ...(agents === undefined ? {} : { agents }),
});

function createTested() {
  const refused: string[] = [];
  const limits = {
    ...defaultLimits,
    agents: 2,
    perAgent: 2,
    perProject: { requests: 7, waits: 7, streams: 7 },
  };
  return { shares: createShares({ limits, onRefused: (why) => refused.push(why) }), refused };
}

/** How many shares it gets. */
function takeAll(shares: ReturnType<typeof createShares>, who: Principal): (() => void)[] {
  const taken: (() => void)[] = [];
  try {
    for (;;) taken.push(shares.take('waits', who, undefined));
  } catch (error) {
    expect(error).toMatchObject({ code: 'too_many_requests' });
    return taken;
  }
}

test('[S2] a token has shares for its agents, and all tokens of a project those of the project', () => {
  const { shares, refused } = createTested();
  expect(takeAll(shares, principal('a'))).toHaveLength(4);
  expect(takeAll(shares, principal('b'))).toHaveLength(3);
  expect(takeAll(shares, principal('c', 1, 2))).toHaveLength(2);
  expect(takeAll(shares, principal('d', 3, 3))).toHaveLength(6);
  expect(refused).toEqual(['waits', 'waits', 'waits', 'waits']);
  shares.take('requests', principal('a'), undefined);
});

test('[S2] a share that is given back twice counts once', () => {
  const { shares } = createTested();
  const [first] = takeAll(shares, principal('a', 1));
  first?.();
  first?.();
  expect(takeAll(shares, principal('a', 1))).toHaveLength(1);
});
