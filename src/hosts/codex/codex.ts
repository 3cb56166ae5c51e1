import type { Host } from '../../runtime/index.ts';
import { capabilities } from './capabilities.ts';
import { hostName, parse } from './parse-payload.ts';
import { contextCharacters, render } from './render.ts';
import { acted, arrival, lastCompaction, stopsIn } from './rollout.ts';
import { spending } from './spending.ts';
import { codexTools } from './tool-names.ts';
import { variables } from './variables.ts';

export const codex: Host = {
  name: hostName,
  capabilities,
  variables,
  // The times are shorter than the timeouts in `registrations`, which start before Node does.
  limits: { contextCharacters, toolHookMs: 5_000, stopHookMs: 60_000, stopCheckMs: 20_000 },
  tools: codexTools,
  compaction: 'exact',
  callIdKey: 'callId',
  commands: /^\$stepfast(?:\s+|:)/,
  parse,
  render,
  acted,
  arrival,
  lastCompaction,
  spending,
  stopsIn,
  setup: async () => (await import('./setup.ts')).codexSetup,
  driver: async () => (await import('./drive/index.ts')).codexDriver,
};
