/**
 * What operators may do over HTTP: who they are, and what they do in a world. The role that a verb takes is checked before it is called
 * (src/http/ops/); which moves a role may make, where the move is asked for. The person is whom the session belongs to: nobody can name
 * another. All of them throw DomainError.
 */
import type { Permission, Role } from '../../accounts/roles.ts';
import type { OneTimePassword, PersonChanges, PersonView, RefusedAttempt, Session } from '../../accounts/people-views.ts';
import type { OpsWorld } from './ops-world.ts';
import type { Page } from './views.ts';

export interface SessionUseCases {
  /** The token is answered this once. UNAUTHORIZED, the same for an unknown person, a wrong password, a locked and a disabled person. */
  signIn(request: {
    readonly email: string;
    readonly password: string;
    readonly address: string;
  }): Promise<{ readonly token: string; readonly session: Session }>;
  /** INVALID_TOKEN for one that is malformed (no query), unknown, over, idle for too long or revoked. */
  authenticate(token: string): Promise<Session>;
  /** FORBIDDEN where the role lacks the permission, which is on record then. */
  authorise(session: Session, permission: Permission, about: RefusedAttempt): Promise<void>;
  signOut(session: Session): Promise<void>;
  /** Ends the person's other sessions. VALIDATION_ERROR, and UNAUTHORIZED where the present password is wrong. */
  changePassword(
    session: Session,
    change: { readonly current: string; readonly next: string; readonly address: string },
  ): Promise<void>;
}

export interface PeopleUseCases {
  list(query: { readonly page: number; readonly limit: number }): Promise<Page<PersonView>>;
  /** VALIDATION_ERROR where somebody has the e-mail address already. */
  create(
    session: Session,
    person: { readonly email: string; readonly name: string; readonly role: Role },
  ): Promise<OneTimePassword>;
  /** NOT_FOUND. FORBIDDEN on oneself, except for the name: somebody who may manage people is always left. */
  change(session: Session, personId: string, changes: PersonChanges): Promise<PersonView>;
  /** Also ends a lock, and every session of theirs. NOT_FOUND; FORBIDDEN on oneself. */
  resetPassword(session: Session, personId: string): Promise<OneTimePassword>;
}

export interface OpsUseCases {
  readonly sessions: SessionUseCases;
  readonly people: PeopleUseCases;
  /** `live` is absent while the live world is switched off. */
  readonly worlds: { readonly test: OpsWorld; readonly live?: OpsWorld };
}
