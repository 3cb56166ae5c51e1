import type { Input, Scalar } from '../schema/index.ts';
import { longestMatched, matchesPattern } from './text-pattern.ts';

/** Why a value cannot be that of an input. */
export type InputProblem =
  | { why: 'type'; type: string }
  | { why: 'not_allowed'; allowed: Scalar[] }
  | { why: 'pattern'; pattern: string }
  | { why: 'too_long'; limit: number };

export function inputProblem(input: Input, value: Scalar): InputProblem | undefined {
  const { type = 'string', enum: allowed, pattern } = input;
  if (typeof value !== type) return { why: 'type', type };
  if (allowed && !allowed.includes(value)) return { why: 'not_allowed', allowed };
  if (pattern === undefined || typeof value !== 'string') return undefined;
  if (value.length > longestMatched) return { why: 'too_long', limit: longestMatched };
  return matchesPattern(pattern, value) ? undefined : { why: 'pattern', pattern };
}
