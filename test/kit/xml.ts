/** Checks matching tags, quoted attributes and forbidden characters. */
export function xmlProblems(xml: string): string[] {
  const problems: string[] = [];
  const open: string[] = [];
  // biome-ignore lint/suspicious/noControlCharactersInRegex: XML forbids exactly these.
  if (/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Cs}/u.test(xml))
    problems.push('forbidden character');
  const rest = xml.replaceAll(
    /<(\/?)([a-z]+)((?: [a-zA-Z:-]+="[^"<]*")*)(\/?)>/g,
    (_, close, name, __, empty) => {
      if (close === '/' && open.pop() !== name) problems.push(`</${name}> closes nothing`);
      if (close === '' && empty === '') open.push(name);
      return '';
    },
  );
  if (/[<>]/.test(rest)) problems.push(`loose markup: ${/.{0,20}[<>].{0,20}/.exec(rest)?.[0]}`);
  if (/&(?!#\d+;)/.test(rest)) problems.push('loose ampersand');
  return [...problems, ...open.map((name) => `<${name}> is never closed`)];
}
