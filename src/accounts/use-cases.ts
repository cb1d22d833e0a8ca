import type { Principal } from '../domain/account.ts';
import type { Permission, Role } from './roles.ts';
import type { Page } from '../domain/page.ts';
import type { Session, RefusedAttempt } from './sessions.ts';
import type { PersonView, OneTimePassword, PersonChanges } from './people.ts';

export interface AccountUseCases {
  /** INVALID_TOKEN for a key that is malformed (no query), unknown, expired or revoked. */
  authenticate(rawKey: string): Promise<Principal>;
}

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
