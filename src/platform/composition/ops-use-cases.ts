/**
 * What operators may do over HTTP: who they are, and what they do in a world. The role that a verb takes is checked before it is called
 * (src/http/ops/); which moves a role may make, where the move is asked for. The person is whom the session belongs to: nobody can name
 * another. All of them throw DomainError.
 */
import type { OpsWorld } from './ops-world.ts';
import type { SessionUseCases, PeopleUseCases } from '../../accounts/use-cases.ts';

export interface OpsUseCases {
  readonly sessions: SessionUseCases;
  readonly people: PeopleUseCases;
  /** `live` is absent while the live world is switched off. */
  readonly worlds: { readonly test: OpsWorld; readonly live?: OpsWorld };
}
