/** Once before all files. */
export { ensureBuilt as setup } from '../../scripts/ensure-built.ts';
