import type { InstallReader } from '../domain/account.ts';
import type { Clock } from '../domain/clock.ts';
import type { AccountsDb, WorldDb } from '../platform/database/tables.ts';
import type { UrlGuard } from '../platform/outbound/url-guard.ts';
import type { SecretBox } from '../platform/secret-box.ts';

export interface WebhookDeps {
  readonly db: WorldDb;
  /** For the audit log, and the mails that it causes. */
  readonly accounts: AccountsDb;
  readonly clock: Clock;
  /** For endpoints' secrets. */
  readonly secretBox: SecretBox;
  readonly urlGuard: UrlGuard;
  /** Stored bodies as they are sent: what is sealed is filled in, as far as the caller may read it. */
  readonly completeBodies: (bodies: readonly string[], reader: InstallReader) => Promise<readonly string[]>;
}

/** For reads, also inside a transaction. */
export type WithDb = Pick<WebhookDeps, 'db'>;
