/**
 * `npm run context-cost`: what context boundaries save. The same twelve steps, driven by `stepfast run` with the real Claude
 * Code and a scripted model, without boundaries, with `context: compact` before every third step, and with `context: clear`
 * before each. `-- --write` updates docs/driver.md and docs/context-cost.svg.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ensureBuilt } from '../../scripts/ensure-built.ts';
import { versionOfHost } from '../../scripts/install-hosts.ts';
import { type Measured, measure, variants } from './measure.ts';
import { plot, printMeasured, section } from './section.ts';

const docs = join(import.meta.dirname, '..', '..', 'docs');
const page = join(docs, 'driver.md');
const between = /(<!-- context-cost:begin -->\n)[\s\S]*?(<!-- context-cost:end -->)/;

ensureBuilt();
const measured: Measured[] = [];
for (const variant of variants) measured.push(await measure(variant));
printMeasured(measured);
if (process.argv.includes('--write')) {
  const about = {
    date: new Date().toISOString().slice(0, 10),
    claude: versionOfHost('claude'),
    node: process.version,
  };
  const text = readFileSync(page, 'utf8');
  if (!between.test(text)) throw new Error('docs/driver.md has no markers');
  writeFileSync(
    page,
    text.replace(between, (_, begin, end) => `${begin}${section(measured, about)}${end}`),
  );
  writeFileSync(join(docs, 'context-cost.svg'), plot(measured));
}
console.log(JSON.stringify(measured));
