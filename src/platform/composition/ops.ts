/** Puts together what operators may do over HTTP; nothing else happens here but that nobody manages themselves. */
import { DomainError } from '../../domain/errors.ts';
import { unavailableWhenAway } from '../database/availability.ts';
import type { OpsUseCases } from './ops-use-cases.ts';
import { changePerson, createPerson, listPeople, resetPassword } from '../../accounts/people.ts';
import { createSessions, type SessionDeps, type Session } from '../../accounts/sessions.ts';
import type { PeopleUseCases } from '../../accounts/use-cases.ts';

export function createOps(deps: SessionDeps, worlds: OpsUseCases['worlds']): OpsUseCases {
  return {
    sessions: unavailableWhenAway(createSessions(deps)),
    people: unavailableWhenAway<PeopleUseCases>({
      list: (query) => listPeople(deps, query),
      create: (session, person) => createPerson(deps, person, session.person.email),
      change: async (session, personId, changes) => {
        if (changes.role !== undefined || changes.disabled !== undefined) refuseOneself(session, personId);
        return changePerson(deps, { id: personId }, changes, session.person.email);
      },
      resetPassword: async (session, personId) => {
        refuseOneself(session, personId);
        return resetPassword(deps, { id: personId }, session.person.email);
      },
    }),
    worlds: {
      test: unavailableWhenAway(worlds.test),
      ...(worlds.live ? { live: unavailableWhenAway(worlds.live) } : {}),
    },
  };
}

/** So that the last one who may manage people cannot lock the door from outside. */
function refuseOneself({ person }: Session, personId: string): void {
  if (person.personId === personId)
    throw new DomainError('FORBIDDEN', 'Nobody changes their own role, disables or resets themselves');
}
