import { createHash } from 'node:crypto';
import type { CriticalArtifact } from '../../machine/index.ts';
import { redactSecrets } from '../secrets/redact.ts';
import { isOwnRunFile, isOwnState, pathProblem } from './allowed-path.ts';
import type { ArtifactContent } from './artifact.ts';
import type { ArtifactFiles } from './artifact-files.ts';
import { decodeText, withoutCutEnd } from './decode-text.ts';
import { type Git, gitInfo } from './git-info.ts';
import { listDirectory } from './list-directory.ts';
import { type ContainedPath, doesNotExist, type ReadFailure } from './open-contained.ts';
import { quoted, sizeText } from './printable.ts';
import { type ArtifactContext, noteHint, resolveArtifactPath } from './resolve-path.ts';
import { shortenJson } from './shorten-json.ts';

export interface ContentSources extends ArtifactContext {
  root: string;
  worktree: string;
  git: Git;
  files: ArtifactFiles;
}

const maxTextBytes = 256 * 1024;
const maxJsonBytes = 2 * 1024 * 1024;
const maxJsonCharacters = 8 * 1024;
const largeBytes = 32 * 1024;

/** An artifact's content before redaction. */
interface FoundContent {
  text: string;
  /** The input of the hash. */
  hashed: string | Buffer;
  bytes: number;
  warnings: string[];
}

/** Loads an artifact that is not a slash command. */
export async function loadContent(
  entry: CriticalArtifact,
  sources: ContentSources,
): Promise<ArtifactContent> {
  if (entry.type === 'git_info') {
    const text = await gitInfo(sources.git);
    if (text !== undefined) return redactedContent('git', found(text));
    return {
      state: 'missing',
      source: 'git',
      why: `'${entry.id}' needs a git repository: run git init, or remove the artifact from the workflow.`,
    };
  }
  const origin = resolveArtifactPath(entry, sources);
  if ('why' in origin) {
    const { state, path, why } = origin;
    return { state, why: `'${entry.id}' ${path === undefined ? '' : `(${quoted(path)}) `}${why}.` };
  }
  const { segments } = origin;
  const result = await find(entry, segments, sources);
  const end = entry.type === 'directory' ? '/' : result.inside === undefined ? '' : `/${result.inside}`;
  const name = `${segments.join('/')}${end}`;
  const source = `@${quoted(name).slice(1, -1)}`;
  if ('text' in result && entry.required && result.text.trim() === '')
    return { state: 'missing', source, why: `${quoted(name)} of '${entry.id}' is empty: write it.` };
  if ('text' in result) return redactedContent(source, result);
  const advice = result.why === doesNotExist ? `: write it, or ${otherPathHint(entry)}` : '';
  return { state: result.state, source, why: `${quoted(name)} of '${entry.id}' ${result.why}${advice}.` };
}

const otherPathHint = ({ path_from_state: from }: CriticalArtifact): string =>
  from === undefined ? 'have the workflow name another path' : `note another path ${noteHint(from)}`;

/** `inside` is the file that represents a directory. */
async function find(
  entry: CriticalArtifact,
  segments: readonly string[],
  sources: ContentSources,
): Promise<(FoundContent | ReadFailure) & { inside?: string }> {
  const { state, root, worktree, files, projection } = sources;
  const listing = entry.type === 'directory';
  const own = isOwnRunFile(segments, state.run);
  // The current projection: the file on disk may be older.
  if (!listing && isOwnState(segments, state.run))
    return foundJson(projection, 'state.json', found(JSON.stringify(projection ?? null, undefined, 2)));
  const target: ContainedPath = {
    base: own ? root : worktree,
    segments,
    problem: (parts) =>
      isOwnState(parts, state.run)
        ? "is the run's own state through another path: use its own path"
        : pathProblem(parts, state.run, listing),
  };
  const wrong = target.problem(segments);
  if (wrong !== undefined) return { state: 'refused', why: wrong };
  if (listing) {
    const list = await listDirectory(files, target);
    return 'text' in list
      ? found(list.text, list.whole ? [] : ['The directory listing is incomplete'])
      : list;
  }
  const name = segments.at(-1) ?? '';
  if (entry.type === 'json') return findJson(target, name, files);
  const text = await findText(target, name, files);
  if (entry.type !== 'skill' || !('found' in text)) return text;
  const inside = 'SKILL.md';
  return { ...(await findText({ ...target, segments: [...segments, inside] }, inside, files)), inside };
}

async function findText(
  target: ContainedPath,
  name: string,
  files: ArtifactFiles,
): Promise<FoundContent | ReadFailure> {
  const read = await files.read(target, maxTextBytes);
  if (!('bytes' in read)) return read;
  const { bytes, size } = read;
  const whole = bytes.length >= size;
  const text = decodeText(bytes, whole);
  if (text === undefined) return { state: 'refused', why: 'is not UTF-8 text: name a text file' };
  if (whole) {
    const warnings =
      size > largeBytes ? [`${quoted(name)} is ${sizeText(size)}, which is large for a briefing`] : [];
    return { text, hashed: bytes, bytes: size, warnings };
  }
  const opening = withoutCutEnd(text);
  return {
    text: `${opening}\n… ${sizeText(size - Buffer.byteLength(opening))} more`,
    hashed: bytes,
    bytes: size,
    warnings: [
      `${quoted(name)} is ${sizeText(size)}, of which ${sizeText(Buffer.byteLength(opening))} are shown`,
    ],
  };
}

async function findJson(
  target: ContainedPath,
  name: string,
  files: ArtifactFiles,
): Promise<FoundContent | ReadFailure> {
  const read = await files.read(target, maxJsonBytes);
  if (!('bytes' in read)) return read;
  const { bytes, size } = read;
  if (bytes.length < size)
    return {
      state: 'refused',
      why: `is ${sizeText(size)}, larger than the limit of ${sizeText(maxJsonBytes)}: name a smaller file`,
    };
  const text = decodeText(bytes, true);
  if (text === undefined) return { state: 'refused', why: 'is not UTF-8 text: name a JSON file' };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { state: 'refused', why: 'is not valid JSON: fix it, or use the type markdown' };
  }
  return foundJson(value, name, { text, hashed: bytes, bytes: size, warnings: [] });
}

function foundJson(value: unknown, name: string, whole: FoundContent): FoundContent {
  const short = shortenJson(value, maxJsonCharacters);
  const warnings = short.whole
    ? []
    : [
        `${quoted(name)} is ${sizeText(whole.bytes)}, of which ${sizeText(Buffer.byteLength(short.text))} are shown`,
      ];
  return { ...whole, text: short.text, warnings };
}

const found = (text: string, warnings: string[] = []): FoundContent => ({
  text,
  hashed: text,
  bytes: Buffer.byteLength(text),
  warnings,
});

async function redactedContent(
  source: string,
  { text, hashed, bytes, warnings }: FoundContent,
): Promise<ArtifactContent> {
  const clean = await redactSecrets(text);
  const marks = [...clean.text.matchAll(/\[secret removed: ([\w-]{1,40})\]/g)];
  const rules = new Set(marks.map(([, rule]) => rule));
  return {
    state: 'loaded',
    source,
    text: clean.text,
    hash: `sha256:${createHash('sha256').update(hashed).digest('hex')}`,
    bytes,
    warnings:
      rules.size === 0 ? warnings : [...warnings, `Secrets were removed: ${[...rules].sort().join(', ')}`],
  };
}
