import { useDrivenHost } from '../../kit/driven-host.ts';
import { openCodeHost } from '../../kit/opencode.ts';

useDrivenHost(openCodeHost);
await import('../driver/steps.test.ts');
