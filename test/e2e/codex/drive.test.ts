/** Codex without a person, as the driver uses it. */
import { codexHost } from '../../kit/codex.ts';
import { drivenSuite } from '../../kit/driven-suite.ts';

drivenSuite(codexHost);
