import { dirname, join } from 'node:path';
import type { LongText } from '../../machine/index.ts';
import { describeText, digestHex, digestOf } from '../long-text.ts';
import { corrupt } from './accept-lines.ts';
import { bufferOf } from './bytes.ts';
import type { Files } from './files.ts';
import type { RunPaths } from './run-paths.ts';
import { makeDirectories, replaceFile } from './write-file.ts';

export const textPath = (paths: RunPaths, digest: string): string | undefined => {
  const hex = digestHex(digest);
  return hex === undefined ? undefined : join(paths.outputs, `${hex}.txt`);
};

/** The text is durable on return, even if an earlier writer crashed before its sync. */
export async function keepText(
  files: Files,
  paths: RunPaths,
  text: string,
  nonce: string,
): Promise<LongText> {
  const { bytes, kept } = describeText(text);
  const path = textPath(paths, kept.digest) ?? '';
  await makeDirectories(files, paths.outputs);
  const there = await files.read(path);
  if (there && digestOf(there) === kept.digest) await files.syncDirectory(paths.outputs);
  else await replaceFile(files, { path, temporary: `${path}.${nonce}.tmp`, durable: true }, bytes);
  await files.syncDirectory(paths.root);
  await files.syncDirectory(dirname(paths.root));
  return kept;
}

/** undefined if the text does not exist; a damaged text is an error. */
export async function readText(
  files: Files,
  run: string,
  paths: RunPaths,
  digest: string,
): Promise<string | undefined> {
  const path = textPath(paths, digest);
  const bytes = path === undefined ? undefined : await files.read(path);
  if (!bytes) return undefined;
  if (digestOf(bytes) !== digest) throw corrupt(run, `the text ${path} does not match its digest`);
  return bufferOf(bytes).toString('utf8');
}
