import type { Host } from '../../runtime/index.ts';
import { capabilities } from './capabilities.ts';
import { hostName, parse } from './parse-payload.ts';
import { contextCharacters, render } from './render.ts';
import { templateTools } from './tool-names.ts';
import { acted, arrival, spending } from './transcript.ts';
import { variables } from './variables.ts';

/**
 * A host to copy, as docs/adding-a-host.md describes. The program is invented, and is in no list of hosts. It passes
 * the contract suite of hooks like every other one.
 */
export const template: Host = {
  name: hostName,
  capabilities,
  variables,
  // The times are shorter than the timeouts in `registrations`, which start before Node does.
  limits: { contextCharacters, toolHookMs: 5_000, stopHookMs: 55_000, stopCheckMs: 20_000 },
  tools: templateTools,
  compaction: 'hint',
  commands: /^\/stepfast\s+/,
  parse,
  render,
  acted,
  arrival,
  spending,
};
