/** `npm run bench -- NAME`: prints a table and, last, one JSON line. */
const benches: Record<string, () => Promise<{ bench(): Promise<object> }>> = {
  mcp: () => import('./bench/mcp.ts'),
  tree: () => import('./bench/tree.ts'),
};

const name = process.argv[2] ?? '';
const load = Object.hasOwn(benches, name) ? benches[name] : undefined;
if (!load) {
  console.error(`Name one of: ${Object.keys(benches).join(', ')}`);
  process.exit(2);
}
const { bench } = await load();
console.log(JSON.stringify(await bench()));
