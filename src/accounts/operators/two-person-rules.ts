/** What takes two people: access, and actions above a limit. Callers read the rows for it. */
import { DAY_MS } from '../../domain/clock.ts';
import { DomainError } from '../../domain/errors.ts';
import type { Role } from '../../domain/operator-roles.ts';

/** A name or an e-mail address as it is compared, however it was typed. */
export function personKey(name: string): string {
  // Stryker disable next-line MethodExpression: names compare the same in upper case
  return name.normalize('NFKC').trim().replace(/\s+/g, ' ').toLowerCase();
}

export const isSamePerson = (one: string, other: string): boolean => personKey(one) === personKey(other);

/** Access that was given to the person with this address. */
export interface GivenAccess {
  readonly email: string;
  readonly givenBy: string;
  readonly confirmedBy: string | null;
}

/** Long enough for the owner of a hijacked login, or a colleague, to notice. */
export const INDEPENDENT_AFTER_MS = DAY_MS;

/**
 * False for one person, where one of the two gave or confirmed the access of the other, and where a third
 * person did so for both. `recent`: what was given within INDEPENDENT_AFTER_MS.
 */
export function areIndependent(one: string, other: string, recent: readonly GivenAccess[]): boolean {
  const accessGivers = (person: string): Set<string> => {
    const given = recent.filter(({ email }) => isSamePerson(email, person));
    const names = given.flatMap(({ givenBy, confirmedBy }) =>
      confirmedBy === null ? [givenBy] : [givenBy, confirmedBy],
    );
    return new Set([person, ...names].map(personKey));
  };
  return accessGivers(one).isDisjointFrom(accessGivers(other));
}

/** Administrators cannot lock themselves out: nobody could restore the last one. Throws FORBIDDEN. */
export function refuseOneself(actorId: string, personId: string): void {
  if (actorId === personId)
    throw new DomainError('FORBIDDEN', 'You cannot change your own role, or disable or reset yourself');
}

/** What a person may do, as far as another administrator must agree to it. */
export interface Access {
  readonly role: Role;
  readonly isDisabled: boolean;
}

/** Whether the person may do something after the change that was not possible before. */
export const givesAccess = (before: Access, after: Access): boolean =>
  !after.isDisabled && (before.isDisabled || after.role !== before.role);

/**
 * Whether `by` may confirm this access. `role` is what they agree to: the person's may have been changed
 * since they read it. Throws FORBIDDEN for access that `by` gave, VALIDATION_ERROR for another role.
 */
export function refuseConfirmation(
  access: { readonly givenBy: string; readonly role: Role },
  { by, role }: { readonly by: string; readonly role: Role },
): void {
  if (isSamePerson(access.givenBy, by))
    throw new DomainError('FORBIDDEN', 'A different administrator must confirm this');
  if (access.role !== role)
    throw new DomainError('VALIDATION_ERROR', 'Invalid request', {
      details: `role: the person would be ${access.role}`,
    });
}
