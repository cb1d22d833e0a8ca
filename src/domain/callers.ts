/**
 * Callers who have signed in: operators at /ops, and users of the dashboard. The holder of an API key is a
 * `Principal`.
 */
import type { Account } from './account.ts';
import { DomainError } from './errors.ts';
import type { MemberRole } from './member-roles.ts';
import type { Role } from './operator-roles.ts';

/** Of an operator. */
export interface Session {
  readonly person: {
    readonly personId: string;
    readonly email: string;
    readonly name: string;
    readonly role: Role;
  };
  /** The person signed in with a one-time password and can do nothing but choose another. */
  readonly mustChangePassword: boolean;
  /** The role takes a second factor, which the person has not set up: nothing else is allowed until then. */
  readonly mustAddSecondFactor: boolean;
  readonly expiresAt: Date;
  /** When they last gave the password, and the code of a second factor, in this session. */
  readonly confirmedAt: Date;
}

/** What a user's browser sends with each request. */
export interface BrowserRequest {
  readonly cookie: string | undefined;
  /** An operator's program sent a token, from which the cookie is made. */
  readonly isProgram?: boolean | undefined;
  readonly clientAddress: string;
  /** What a person would call the browser or the machine. */
  readonly device?: string | undefined;
  /** Operators may sign in from this address. From others they get the answer for an unknown user. */
  readonly isForOperators: boolean;
}

/** Of a user of the dashboard. */
export interface UserSession {
  readonly user: {
    readonly userId: string;
    readonly email: string;
    readonly name: string;
    readonly hasSecondFactor: boolean;
  };
  /** It ends sooner after 30 minutes without a request. */
  readonly expiresAt: Date;
  /** When they last gave the password, and the code of a second factor, in this session. */
  readonly confirmedAt: Date;
  /** From where this request came. */
  readonly clientAddress: string;
  /** Of an operator: what `/ops` knows of them. */
  readonly operator: Session | undefined;
}

/** A user in one account. */
export interface Member {
  readonly userId: string;
  readonly email: string;
  readonly role: MemberRole;
  readonly account: Account;
  /** From where this request came. */
  readonly clientAddress: string;
}

/** Answers to requests without a session: to operators' programs, and to users of the dashboard. */
export const SIGN_IN = {
  session: 'Sign in, and send your token as Authorization: Bearer',
  user: 'Sign in first',
} as const;

export const unknownSession = (): DomainError =>
  new DomainError('INVALID_TOKEN', 'The session is unknown or has ended: sign in');
