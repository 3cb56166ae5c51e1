import type { CheckTool } from '../definition/index.ts';
import { appliesIn, type HostTools, parseToolRule } from '../runtime/index.ts';
import { nearest } from '../suggest.ts';
import { othersWithTool } from './other-tools.ts';

/** Judges a name in `tools` or `cannot` of an agent by what the hosts have. */
export function createCheckTool(hosts: readonly HostTools[]): CheckTool {
  const title = hosts.map((host) => host.title).join(', ');
  const names = hosts.flatMap((host) => host.names);
  const shells = hosts.map(({ shell }) => shell);
  return (entry, list) => {
    const rule = parseToolRule(entry);
    const { name, pattern } = rule;
    if (list === 'cannot' && hosts.some(({ own }) => own.test(name))) return { is: 'own' };
    const applies = hosts.some((host) => appliesIn(host, rule));
    const programs = othersWithTool(name);
    if (programs.length > 0) return applies ? undefined : { is: 'elsewhere', programs, title };
    if (!applies) return { is: 'unknown', title, meant: nearest(name, names) };
    const [now] = hosts.flatMap(({ renamed }) => (Object.hasOwn(renamed, name) ? (renamed[name] ?? []) : []));
    if (now !== undefined) return { is: 'renamed', title, name: now };
    if (pattern !== undefined && !shells.includes(name)) return { is: 'no_pattern', shells };
    return undefined;
  };
}
