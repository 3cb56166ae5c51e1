import { createRequire } from 'node:module';

/** The last compiler with an interface for programs; attw brings it along. */
const compiler = createRequire(
  createRequire(import.meta.url).resolve('@arethetypeswrong/core', { paths: [attw()] }),
)('typescript');

function attw(): string {
  return createRequire(import.meta.url).resolve('@arethetypeswrong/cli/package.json');
}

/** What this file needs of the compiler's own types, which are not installed. */
interface Node {
  kind: number;
  getSourceFile(): { fileName: string };
  name?: Node;
  modifiers?: readonly Node[];
  typeParameters?: readonly Node[];
}
interface Symbol {
  flags: number;
  name: string;
  declarations?: Node[];
}

/**
 * Types that public declarations name and that no entry exports, as `Name (named by Public)`. `files` are the declarations
 * of the entries, below `root`. Types of zod and of Node are not ours.
 */
export function unexportedTypes(root: string, files: readonly string[]): string[] {
  const { createProgram, forEachChild, SymbolFlags, SyntaxKind } = compiler;
  const options = {
    module: 199,
    moduleResolution: 99,
    strict: true,
    skipLibCheck: true,
    types: [],
    noEmit: true,
  };
  const program = createProgram(files, { ...options, target: 99, allowImportingTsExtensions: true });
  const checker = program.getTypeChecker();
  const resolved = (symbol: Symbol): Symbol =>
    symbol.flags & SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
  const isOurs = ({ declarations = [] }: Symbol): boolean =>
    declarations.length > 0 &&
    declarations.every((each) => {
      const { fileName } = each.getSourceFile();
      return fileName.startsWith(root) && !fileName.includes('/zod/') && !fileName.includes('node_modules');
    });
  const exported = new Set<Symbol>(
    files.flatMap((file) =>
      checker.getExportsOfModule(checker.getSymbolAtLocation(program.getSourceFile(file))).map(resolved),
    ),
  );
  /** A function of types that its own file keeps to itself: what it yields counts. */
  const isHelper = ({ kind, modifiers = [], typeParameters }: Node): boolean =>
    kind === SyntaxKind.TypeAliasDeclaration &&
    typeParameters !== undefined &&
    !modifiers.some((each) => each.kind === SyntaxKind.ExportKeyword);
  const seen = new Set<Node>();
  const missing = new Set<string>();
  for (const symbol of exported)
    for (const declaration of symbol.declarations ?? []) if (isOurs(symbol)) visit(declaration, symbol.name);
  return [...missing].sort();

  function visit(node: Node, by: string): void {
    seen.add(node);
    const isPrivate = node.modifiers?.some(({ kind }) => kind === SyntaxKind.PrivateKeyword);
    if (isPrivate) return;
    const named: Node | undefined =
      node.kind === SyntaxKind.TypeReference
        ? (node as { typeName?: Node }).typeName
        : node.kind === SyntaxKind.ExpressionWithTypeArguments
          ? (node as { expression?: Node }).expression
          : undefined;
    const symbol: Symbol | undefined = named && checker.getSymbolAtLocation(named);
    const target = symbol && resolved(symbol);
    if (target && !(target.flags & SymbolFlags.TypeParameter) && isOurs(target) && !exported.has(target)) {
      const [helper] = (target.declarations ?? []).filter(isHelper);
      if (!helper) missing.add(`${target.name} (named by ${by})`);
      else if (!seen.has(helper)) visit(helper, by);
    }
    forEachChild(node, (child: Node) => visit(child, by));
  }
}
