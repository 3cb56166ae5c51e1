import type { Host } from '../../runtime/index.ts';
import { arrival } from './arrival.ts';
import { capabilities } from './capabilities.ts';
import { hostName, parse } from './parse-payload.ts';
import { budget, render } from './render.ts';

export const claudeCode: Host = { name: hostName, capabilities, budget, parse, render, arrival };
