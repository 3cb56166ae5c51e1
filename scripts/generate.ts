/** Writes the generated files; with `--check` it only says whether they are current. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { workflowJsonSchema } from '../src/definition/index.ts';

const root = join(import.meta.dirname, '..');
const generated = [
  { file: 'schema/workflow.schema.json', text: () => `${JSON.stringify(workflowJsonSchema(), null, 2)}\n` },
];

const check = process.argv.includes('--check');
for (const { file, text } of generated) {
  const path = join(root, file);
  if (!check) {
    writeFileSync(path, text());
    console.log(`wrote ${file}`);
  } else if (read(path) !== text()) {
    console.error(`${file} is not current: run npm run generate`);
    process.exitCode = 1;
  }
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').replaceAll('\r\n', '\n');
  } catch {
    return undefined;
  }
}
