export { createMcpHttp } from './http.ts';
export { serveMcp } from './serve.ts';
