import { z } from 'zod';
import { isoTime } from '../../platform/http/answer-fields.ts';
import { choiceField, isCleanText, textField } from '../../platform/http/fields.ts';
import {
  MAX_EMAIL_CHARACTERS,
  MAX_PASSWORD_CHARACTERS,
  MAX_PERSON_NAME_CHARACTERS,
  MAX_SECOND_FACTOR_CHARACTERS,
} from '../../platform/http/limits.ts';
import { dataSchema } from '../../platform/http/ops-route.ts';
import { pageFields, pageSchema } from '../../platform/http/page.ts';
import { OPERATOR_ACTIONS } from '../operators/action-table.ts';
import { PERMISSIONS, ROLES } from '../../domain/operator-roles.ts';

const passwordField = (description: string) =>
  textField({ max: MAX_PASSWORD_CHARACTERS, description }).meta({ format: 'password' });

const roleField = choiceField(ROLES, { description: 'What the person may do', example: 'SUPPORT' });

const nameField = textField({
  max: MAX_PERSON_NAME_CHARACTERS,
  description: 'The person’s name',
  example: 'Ada Lovelace',
});

/** Takes any text: a stricter schema would show which addresses and passwords are possible. */
export const signInBody = z
  .object({
    email: textField({
      max: MAX_EMAIL_CHARACTERS,
      description: 'In any case',
      example: 'ada@operator.example',
    }),
    password: passwordField('Your own, or your one-time password'),
    code: textField({
      max: MAX_SECOND_FACTOR_CHARACTERS,
      description: 'Of your second factor, if you have one: of the app, or a recovery code',
      example: '123456',
    }).optional(),
  })
  .meta({ id: 'SignInRequest' });

export const changePasswordBody = z
  .object({
    currentPassword: passwordField('The one you signed in with'),
    newPassword: passwordField('At least 12 characters, of any kind, and no common password'),
  })
  .meta({ id: 'ChangePasswordRequest' });

export const createPersonBody = z
  .object({
    email: z
      .email({
        error: (issue) => (issue.input === undefined ? 'is required' : 'must be an e-mail address'),
      })
      .max(MAX_EMAIL_CHARACTERS, `must be at most ${MAX_EMAIL_CHARACTERS} characters long`)
      .refine(isCleanText, 'must be an e-mail address')
      .meta({
        description: 'For signing in and for the record; it never changes',
        example: 'ada@operator.example',
      }),
    name: nameField,
    role: roleField,
  })
  .meta({ id: 'CreatePersonRequest' });

export const changePersonBody = z
  .object({
    name: nameField.optional(),
    role: roleField.optional(),
    disabled: z.boolean('must be true or false').optional().meta({
      description: 'true: signed out everywhere, and cannot sign in until it is false again',
    }),
  })
  .refine((body) => Object.values<unknown>(body).some((value) => value !== undefined), {
    message: 'must hold name, role or disabled',
  })
  .meta({ id: 'ChangePersonRequest' });

export const confirmBody = z
  .object({
    role: choiceField(ROLES, {
      description: 'The role that you confirm; refused where the person would have another',
      example: 'FINANCE',
    }),
  })
  .meta({ id: 'ConfirmAccessRequest' });

export const peopleQuery = z.object(pageFields);

const who = {
  personId: z.string().meta({ example: 'user-6f9619ff8b864d0191f1c2d3e4f5a6b7' }),
  email: z.string(),
  name: z.string(),
  role: z.enum(ROLES),
  mustChangePassword: z.boolean().meta({
    description:
      'The password is a one-time password: until the person chooses another, nothing else is allowed',
  }),
};

const signedIn = {
  ...who,
  expiresAt: isoTime('When the session ends; it ends sooner after 30 minutes without a request'),
};

export const sessionSchema = dataSchema(
  z.object({
    token: z.string().meta({
      description: 'For `Authorization: Bearer`. Shown in this answer only',
    }),
    ...signedIn,
  }),
  'NewSession',
);

export const meSchema = dataSchema(
  z.object({
    ...signedIn,
    permissions: z.array(z.enum(PERMISSIONS)),
    actions: z
      .array(z.enum(OPERATOR_ACTIONS))
      .meta({ description: 'The actions that your role may request' }),
    temporalUi: z
      .object({
        url: z.string().meta({ example: 'https://temporal.example' }),
        namespaces: z.object({
          test: z.string().meta({ example: 'simway-test' }),
          live: z.string().nullable().meta({ description: 'Null while live is switched off' }),
        }),
      })
      .nullable()
      .meta({
        description:
          'A workflow is at `<url>/namespaces/<namespace>/workflows/<workflowId>`; null: the address of the Temporal UI is not configured',
      }),
  }),
  'Me',
);

const person = z
  .object({
    ...who,
    awaitsConfirmation: z
      .object({ askedBy: z.string(), askedAt: isoTime('ISO 8601') })
      .nullable()
      .meta({
        description:
          'Access that another administrator than `askedBy` must confirm before the person can sign in',
      }),
    lockedUntil: isoTime('After too many wrong passwords').nullable(),
    disabledAt: isoTime('ISO 8601').nullable(),
    createdAt: isoTime('ISO 8601'),
  })
  .meta({ id: 'Person' });

const HALF =
  'of the one-time password: `<firstHalf>-<secondHalf>`. Give it to the person yourself. Shown in this answer only';
const firstHalf = z.string().meta({ description: `The first half ${HALF}` });
const oneTimeUntil = isoTime('The one-time password expires then');

export const peoplePageSchema = pageSchema(person, 'PersonPage');
export const firstHalfSchema = dataSchema(z.object({ person, firstHalf, oneTimeUntil }), 'FirstHalf');
export const secondHalfSchema = dataSchema(
  z.object({
    person,
    secondHalf: z.string().meta({ description: `The second half ${HALF}` }),
    oneTimeUntil,
  }),
  'SecondHalf',
);
export const personChangeSchema = dataSchema(
  z.object({
    person,
    given: z
      .object({ firstHalf, oneTimeUntil })
      .nullable()
      .meta({ description: 'Null where the change gives no access' }),
  }),
  'PersonChange',
);
