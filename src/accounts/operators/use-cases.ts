/** What routes for operators may call about people and their sessions. */
import type { Bound } from '../../platform/bind.ts';
import type { deviceLoginUseCases } from './device-logins.ts';
import type { peopleUseCases } from './people.ts';
import type { sessionUseCases } from './sessions.ts';

/** Where people can see the workflows of each environment. */
export interface TemporalUi {
  /** Without a slash at its end. */
  readonly url: string;
  /** `live` is null while the live environment is switched off. */
  readonly namespaces: { readonly test: string; readonly live: string | null };
}

export interface OperatorAccessCases {
  readonly sessions: Bound<typeof sessionUseCases>;
  readonly deviceLogins: Bound<typeof deviceLoginUseCases>;
  readonly people: Bound<typeof peopleUseCases>;
  /** null: not configured. */
  readonly temporalUi: TemporalUi | null;
}
