export { serveMcp } from './serve.ts';

/** The tools over HTTP load the SDK, which `stepfast mcp` does only after its first answer. */
export const loadMcpHttp = () => import('./http.ts');
