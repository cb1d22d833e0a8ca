import type { z } from 'zod';
import type { Session } from '../../domain/callers.ts';
import type { Wire } from '../../platform/http/json.ts';
import type { TemporalUi } from '../operators/use-cases.ts';
import type { ConfirmedHalf, GivenHalf, PersonChange, PersonView } from '../operators/people.ts';
import { mayPerform, OPERATOR_ACTIONS } from '../operators/action-table.ts';
import { may, PERMISSIONS } from '../../domain/operator-roles.ts';
import type {
  firstHalfSchema,
  meSchema,
  personChangeSchema,
  secondHalfSchema,
  sessionSchema,
} from './people-schema.ts';

export function presentNewSession(token: string, session: Session): Wire<z.output<typeof sessionSchema>> {
  return { success: true, data: { token, ...signedIn(session) } };
}

export function presentMe(session: Session, temporalUi: TemporalUi | null): Wire<z.output<typeof meSchema>> {
  const { role } = session.person;
  return {
    success: true,
    data: {
      ...signedIn(session),
      permissions: PERMISSIONS.filter((permission) => may(role, permission)),
      actions: OPERATOR_ACTIONS.filter((action) => mayPerform(role, action)),
      temporalUi,
    },
  };
}

function signedIn({ person, mustChangePassword, expiresAt }: Session) {
  return { ...person, mustChangePassword, expiresAt: expiresAt.toISOString() };
}

type Person = Wire<z.output<typeof firstHalfSchema>>['data']['person'];

export function presentPerson(view: PersonView): Person {
  const { awaitsConfirmation: waiting } = view;
  return {
    ...view,
    awaitsConfirmation: waiting && { askedBy: waiting.askedBy, askedAt: waiting.askedAt.toISOString() },
    lockedUntil: view.lockedUntil?.toISOString() ?? null,
    disabledAt: view.disabledAt?.toISOString() ?? null,
    createdAt: view.createdAt.toISOString(),
  };
}

export function presentFirstHalf(given: GivenHalf): Wire<z.output<typeof firstHalfSchema>> {
  const { person, firstHalf, oneTimeUntil } = given;
  const data = { person: presentPerson(person), firstHalf, oneTimeUntil: oneTimeUntil.toISOString() };
  return { success: true, data };
}

export function presentSecondHalf(confirmed: ConfirmedHalf): Wire<z.output<typeof secondHalfSchema>> {
  const { person, secondHalf, oneTimeUntil } = confirmed;
  const data = { person: presentPerson(person), secondHalf, oneTimeUntil: oneTimeUntil.toISOString() };
  return { success: true, data };
}

export function presentChange({ person, given }: PersonChange): Wire<z.output<typeof personChangeSchema>> {
  const half = given && { firstHalf: given.firstHalf, oneTimeUntil: given.oneTimeUntil.toISOString() };
  return { success: true, data: { person: presentPerson(person), given: half ?? null } };
}
