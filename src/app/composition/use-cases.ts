import type { Authenticator } from '../../accounts/keys/authenticate.ts';
import type { RequestLog } from '../../platform/request-log.ts';
import type { OpsUseCases } from './ops-use-cases.ts';
import type { UserUseCases } from './user-use-cases.ts';
import type { WorldUseCases } from './world-use-cases.ts';

export type { WorldUseCases };

/** Everything that HTTP routes may call. `live` is absent while the live environment is switched off. */
export interface UseCases {
  readonly accounts: Pick<Authenticator, 'authenticate'>;
  readonly worlds: { readonly test: WorldUseCases; readonly live?: WorldUseCases };
  /** Undefined: there is nothing under /ops. */
  readonly ops?: OpsUseCases;
  /** Undefined: there is nothing under /auth and /account, and no cookie is read. */
  readonly users?: UserUseCases;
  /** Undefined: no requests are kept for their accounts. */
  readonly requestLog?: RequestLog;
}
