/** Loaded by `node --import`: says which files a process loads. */
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';

registerHooks({
  load(url, context, next) {
    if (url.startsWith('file:') && url !== import.meta.url)
      process.stderr.write(`loaded ${fileURLToPath(url)}\n`);
    return next(url, context);
  },
});
