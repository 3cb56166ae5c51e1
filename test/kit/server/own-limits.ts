/** Preloaded into a server from its sources (`--import`): limits from JSON in SERVER_LIMITS. */
import { defaultLimits } from '../../../src/server/limits.ts';

Object.assign(defaultLimits, JSON.parse(process.env.SERVER_LIMITS ?? '{}'));
