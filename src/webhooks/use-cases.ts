/** What routes may call. Bound to their dependencies in app/composition. */
import type { Bound } from '../platform/bind.ts';
import * as endpoints from './endpoints.ts';
import { listEvents } from './feed.ts';
import * as messages from './messages.ts';

export const webhookUseCases = { ...endpoints, ...messages, listEvents };

export type WebhookCases = Bound<typeof webhookUseCases>;
