import { codexHost } from '../../kit/codex.ts';
import { useDrivenHost } from '../../kit/driven-host.ts';

useDrivenHost(codexHost);
await import('../driver/hanging.test.ts');
