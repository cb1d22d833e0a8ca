/** Who operates the service, as the use cases and doors hand it on: plain values, nothing secret but a password that was just made. */
import type { Role } from './roles.ts';

/** Who is signed in. */
export interface Session {
  readonly person: {
    readonly personId: string;
    readonly email: string;
    readonly name: string;
    readonly role: Role;
  };
  /** The password was made for them: all they can do is choose another. */
  readonly mustChangePassword: boolean;
  readonly expiresAt: Date;
  /** Names the session in our rows; it opens nothing. */
  readonly tokenSha256: Buffer;
}

/** What somebody tried, for the record. */
export interface RefusedAttempt {
  readonly subject: string;
  readonly requestId: string;
}

/** Somebody, as those who manage people see them. */
export interface PersonView {
  readonly personId: string;
  readonly email: string;
  readonly name: string;
  readonly role: Role;
  readonly mustChangePassword: boolean;
  readonly lockedUntil: Date | null;
  readonly disabledAt: Date | null;
  readonly createdAt: Date;
}

export interface PersonChanges {
  readonly name?: string;
  readonly role?: Role;
  readonly disabled?: boolean;
}

/** A password made for somebody, shown this once. */
export interface OneTimePassword {
  readonly person: PersonView;
  readonly oneTimePassword: string;
  readonly oneTimeUntil: Date;
}
