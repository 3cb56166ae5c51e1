/**
 * Prints the public surface of the built package, one name a line: commands and their options, MCP tools, HTTP routes,
 * hooks, exports. `node scripts/surface.ts [DIST] [--compare FILE]`: builds first where no DIST is given; with
 * --compare it prints what was lost (-) and added (+) since FILE was written, and fails where something was lost.
 */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { ensureBuilt } from './ensure-built.ts';
import { compare } from './surface/lines.ts';
import { readSurface } from './surface/read.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { compare: { type: 'string' } },
});
const [given] = positionals;
if (given === undefined) ensureBuilt();
const surface = await readSurface(
  given === undefined ? join(import.meta.dirname, '..', 'dist') : resolve(given),
);
if (values.compare === undefined) console.log(surface.join('\n'));
else {
  const before = readFileSync(values.compare, 'utf8').split('\n').filter(Boolean);
  const { lost, added } = compare(before, surface);
  for (const line of lost) console.log(`- ${line}`);
  for (const line of added) console.log(`+ ${line}`);
  if (lost.length > 0) process.exitCode = 1;
}
