const readCommands = new Set(
  'cat head tail ls pwd wc grep egrep rg which file stat du df date tree nl cut sort uniq cd true'.split(' '),
);
const readSubcommands = /^git (?:-C \S+ )?(?:status|log|diff|show|blame|ls-files|rev-parse|describe)\b/;

/** A shell command that plainly only reads. Where it is not plain, it counts as an act. */
export function onlyReads(command: string): boolean {
  const plain = command.replaceAll(/\d?>(?:&\d|\s*\/dev\/null)/g, '');
  if (/[<>`]|\$\(/.test(plain)) return false;
  const parts = plain.split(/&&|\|\||[;|\n]/).map((part) => part.trim());
  return parts.every((part) => {
    const [word = ''] = part.split(/\s+/);
    if (part === '' || readCommands.has(word) || readSubcommands.test(part))
      return !/\s--output\b/.test(part);
    return /^sed -n [^;]*p\b/.test(part) && !/\s-i\b|\bw\s/.test(part);
  });
}
