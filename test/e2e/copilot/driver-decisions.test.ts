import { copilotHost } from '../../kit/copilot.ts';
import { useDrivenHost } from '../../kit/driven-host.ts';

useDrivenHost(copilotHost);
await import('../driver/decisions.test.ts');
