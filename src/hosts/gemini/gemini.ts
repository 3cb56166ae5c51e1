import type { Host } from '../../runtime/index.ts';
import { arrival } from './arrival.ts';
import { capabilities } from './capabilities.ts';
import { hostName, parse } from './parse-payload.ts';
import { contextCharacters, render } from './render.ts';
import { geminiTools } from './tool-names.ts';
import { variables } from './variables.ts';

export const gemini: Host = {
  name: hostName,
  capabilities,
  variables,
  // The times are shorter than the timeouts in `registrations`, which start before Node does.
  limits: { contextCharacters, toolHookMs: 5_000, stopHookMs: 60_000, stopCheckMs: 20_000 },
  tools: geminiTools,
  compaction: 'hint',
  commands: /^\/stepfast:/,
  parse,
  render,
  arrival,
  setup: async () => (await import('./setup.ts')).geminiSetup,
  driver: async () => (await import('./drive/index.ts')).geminiDriver,
};
