export * from './library.ts';
// These have the runtime too, and win over the library's.
export { createTestFolder, createTestProject, runtimeIn, type TestProject } from './project.ts';
