/** Finds the samples of a seed document: fenced blocks, commands and file names, each with an id from its place. */
import { hash } from 'node:crypto';

export type Kind = 'block' | 'command' | 'file';

export interface Sample {
  /** `002/block-3`: the document, the kind, and the number within both. */
  id: string;
  kind: Kind;
  /** Of a block. */
  language: string;
  text: string;
  /** A changed document is noticed by it, without a copy of its text. */
  digest: string;
}

type Found = Omit<Sample, 'id' | 'digest'>;
type Fence = Pick<Sample, 'language' | 'text'>;

const fences = /^( *)```(\w*)\n(.*?)^ *```$/gms;
const shells = ['bash', 'sh', 'console'];
const code = ['typescript', 'go'];
const program = /^(?:npm|npx|node|git|rm|mkdir) \S/;
const slashCommand = /^\/[a-z][\w-]*(?::[\w-]+)?(?: |$)/;
const tool = /^(?:workflow_(?:start|status|advance|set_tasks|context)|update_todo_list)$/;
const folders = String.raw`(?:[\w.*{}-]+\/|\/)`;
const fileName = new RegExp(
  [
    String.raw`@?${folders}*[\w.*{}-]*[\w}]\.(?:tpl\.md|json|yaml|md|ts|js|py|go)\b(?::\d+(?:-\d+)?)?`,
    String.raw`${folders}{2,}(?=[\s\`)])`,
  ].join('|'),
  'g',
);

/** A sample that a document repeats is one sample. */
export function samplesOf(document: string, text: string): Sample[] {
  const blocks = fencesIn(text);
  const prose = text.replaceAll(fences, '');
  const scripts = blocks.filter(({ language }) => shells.includes(language));
  const data = blocks.filter(({ language }) => !code.includes(language));
  const found: Found[] = [
    ...blocks
      .filter(({ language }) => !shells.includes(language))
      .map((block) => ({ kind: 'block' as const, ...block })),
    ...[...scripts.flatMap((script) => linesOf(script.text)), ...inlineIn(prose)]
      .filter((line) => [program, slashCommand, tool].some((each) => each.test(line)))
      .map((line) => ({ kind: 'command' as const, language: '', text: line })),
    ...[prose, ...data.map((block) => block.text)]
      .flatMap(filesIn)
      .map((file) => ({ kind: 'file' as const, language: '', text: file })),
  ];
  const counts: Record<Kind, number> = { block: 0, command: 0, file: 0 };
  const seen = new Set<string>();
  return found.flatMap((sample) => {
    const key = `${sample.kind} ${sample.text}`;
    if (seen.has(key)) return [];
    seen.add(key);
    counts[sample.kind] += 1;
    const id = `${document}/${sample.kind}-${counts[sample.kind]}`;
    return [{ ...sample, id, digest: digestOf(sample.text) }];
  });
}

const digestOf = (text: string): string => hash('sha256', text, 'hex').slice(0, 8);

const fencesIn = (text: string): Fence[] =>
  [...text.matchAll(fences)].map(([, indent = '', language = '', body = '']) => ({
    language,
    text: body.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  }));

/** The lines of a script without prompts; lines with an open quote belong together. */
function linesOf(script: string): string[] {
  const lines: string[] = [];
  let open = '';
  for (const line of script.split('\n')) {
    const whole = open === '' ? line.replace(/^\S*\$ /, '') : `${open}\n${line}`;
    open = whole.split('"').length % 2 === 0 ? whole : '';
    if (open === '') lines.push(whole);
  }
  return lines;
}

const inlineIn = (text: string): string[] =>
  [...text.matchAll(/`([^`\n]+)`/g)].map(([, inline = '']) => inline);

const filesIn = (text: string): string[] =>
  [...text.matchAll(fileName)]
    .map(([name]) => name.replace(/^\.\//, ''))
    .filter((name) => name !== 'Node.js');
