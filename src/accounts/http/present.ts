import type { z } from 'zod';
import { may, mayPerform, PERMISSIONS, OPERATOR_ACTIONS } from '../roles.ts';
import type { Wire } from '../../platform/http/json.ts';
import type { meSchema, oneTimePasswordSchema, personSchema, sessionSchema } from './schema.ts';
import type { Session } from '../sessions.ts';
import type { OneTimePassword, PersonView } from '../people.ts';

export function presentNewSession(token: string, session: Session): Wire<z.output<typeof sessionSchema>> {
  return { success: true, data: { token, ...signedIn(session) } };
}

export function presentMe(session: Session): Wire<z.output<typeof meSchema>> {
  const { role } = session.person;
  return {
    success: true,
    data: {
      ...signedIn(session),
      permissions: PERMISSIONS.filter((permission) => may(role, permission)),
      moves: OPERATOR_ACTIONS.filter((move) => mayPerform(role, move)),
    },
  };
}

function signedIn({ person, mustChangePassword, expiresAt }: Session) {
  return { ...person, mustChangePassword, expiresAt: expiresAt.toISOString() };
}

export function presentPerson(view: PersonView): Wire<z.output<typeof personSchema>>['data'] {
  return {
    ...view,
    lockedUntil: view.lockedUntil?.toISOString() ?? null,
    disabledAt: view.disabledAt?.toISOString() ?? null,
    createdAt: view.createdAt.toISOString(),
  };
}

export function presentOneTimePassword(made: OneTimePassword): Wire<z.output<typeof oneTimePasswordSchema>> {
  return {
    success: true,
    data: {
      person: presentPerson(made.person),
      oneTimePassword: made.oneTimePassword,
      oneTimeUntil: made.oneTimeUntil.toISOString(),
    },
  };
}
