/** Senders of commands whose principal a server has proven. */
import type { Caller, PrincipalKind } from '../../src/schema/index.ts';

export type Actor = NonNullable<Caller['actor']>;

export const by = (
  subject: string,
  more: { kind?: PrincipalKind; token?: string; parent?: string } = {},
): Actor => ({
  kind: 'agent',
  principal: { kind: 'agent', subject, token: `${subject}-1`, ...more },
});
export const engineOf = (subject: string, kind: PrincipalKind): Actor => ({
  ...by(subject, { kind }),
  kind: 'engine',
});
export const person: Actor = { kind: 'person', name: 'ada', principal: { kind: 'person', subject: 'ada' } };

export const claude = by('claude');
export const thief = by('thief');
