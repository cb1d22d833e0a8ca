/** Whether two people are two. Pure: the steps that decide approvals read the rows for it. */
import { DAY_MS } from '../../domain/clock.ts';

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
 * False for one and the same person, where one of the two gave or confirmed the access of the other, and where a third person did so for both. `recent`:
 * the access that was given within INDEPENDENT_AFTER_MS.
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
