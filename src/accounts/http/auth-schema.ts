import { z } from 'zod';
import { ENVIRONMENTS, PLANS } from '../../domain/account.ts';
import { ACCOUNT_CURRENCIES } from '../../domain/money.ts';
import { isoTime } from '../../platform/http/answer-fields.ts';
import { choiceField, isCleanText, textField } from '../../platform/http/fields.ts';
import {
  MAX_ACCOUNT_NAME_CHARACTERS,
  MAX_EMAIL_CHARACTERS,
  MAX_LINK_TOKEN_CHARACTERS,
  MAX_PASSWORD_CHARACTERS,
  MAX_PERSON_NAME_CHARACTERS,
  MAX_SECOND_FACTOR_CHARACTERS,
} from '../../platform/http/limits.ts';
import { dataSchema } from '../../platform/http/answer-fields.ts';
import { MEMBER_PERMISSIONS, MEMBER_ROLES } from '../../domain/member-roles.ts';
import { ROLES } from '../../domain/operator-roles.ts';

export const emailField = (description: string) =>
  z
    .email({ error: (issue) => (issue.input === undefined ? 'is required' : 'must be an e-mail address') })
    .max(MAX_EMAIL_CHARACTERS, `must be at most ${MAX_EMAIL_CHARACTERS} characters long`)
    .refine(isCleanText, 'must be an e-mail address')
    .meta({ description, example: 'ada@merchant.example' });

const passwordField = (description: string) =>
  textField({ max: MAX_PASSWORD_CHARACTERS, description }).meta({ format: 'password' });

const newPasswordField = passwordField('At least 12 characters, of any kind, and no common password');

const nameField = textField({
  max: MAX_PERSON_NAME_CHARACTERS,
  description: 'Your name',
  example: 'Ada Lovelace',
});

export const companyNameField = textField({
  max: MAX_ACCOUNT_NAME_CHARACTERS,
  description: 'The name of the company',
  example: 'Merchant Travel Ltd',
});

const tokenField = textField({ max: MAX_LINK_TOKEN_CHARACTERS, description: 'From the link in the mail' });

const codeField = (description: string) =>
  textField({ max: MAX_SECOND_FACTOR_CHARACTERS, description, example: '123456' });

export const signUpBody = z
  .object({
    email: emailField('You sign in with it. It must be able to receive mail'),
    password: newPasswordField,
    name: nameField,
    companyName: companyNameField,
    currency: choiceField(ACCOUNT_CURRENCIES, {
      description: 'Of the wallet and of all prices. It never changes',
      example: 'USD',
    }),
  })
  .meta({ id: 'SignUpRequest' });

export const confirmUserBody = z
  .object({ token: tokenField, password: passwordField('The one that was chosen when signing up') })
  .meta({ id: 'ConfirmUserRequest' });

/** Takes any text: a stricter schema would show which addresses and passwords are possible. */
export const userSignInBody = z
  .object({
    email: textField({
      max: MAX_EMAIL_CHARACTERS,
      description: 'In any case',
      example: 'ada@merchant.example',
    }),
    password: passwordField('Your password'),
  })
  .meta({ id: 'UserSignInRequest' });

export const codeBody = z
  .object({ code: codeField('Of your authenticator app, or one of your recovery codes') })
  .meta({ id: 'SecondFactorRequest' });

export const firstCodeBody = z
  .object({ code: codeField('Of your authenticator app') })
  .meta({ id: 'ConfirmSecondFactorRequest' });

export const ownPasswordBody = z
  .object({ password: passwordField('Your password') })
  .meta({ id: 'OwnPasswordRequest' });

export const removeSecondFactorBody = ownPasswordBody
  .extend({
    code: codeField('Of your authenticator app, or a recovery code. Required once it is in use').optional(),
  })
  .meta({ id: 'RemoveSecondFactorRequest' });

export const changeOwnPasswordBody = z
  .object({ currentPassword: passwordField('The one you signed in with'), newPassword: newPasswordField })
  .meta({ id: 'ChangeOwnPasswordRequest' });

export const requestResetBody = z
  .object({ email: emailField('The one you sign in with') })
  .meta({ id: 'PasswordResetRequest' });

export const confirmResetBody = z
  .object({ token: tokenField, newPassword: newPasswordField })
  .meta({ id: 'ConfirmPasswordResetRequest' });

export const acceptInvitationBody = z
  .object({
    token: tokenField,
    name: nameField.optional(),
    password: newPasswordField.optional(),
  })
  .meta({
    id: 'AcceptInvitationRequest',
    description: '`name` and `password` are needed where the e-mail address has no user yet',
  });

const sandboxMail = z
  .object({ to: z.string(), subject: z.string(), text: z.string(), link: z.string() })
  .optional()
  .meta({
    id: 'SandboxMail',
    description:
      'The mail itself, only under `npm start`: no mail server is set, the live environment is off, and the service is reached from its own ' +
      'machine alone. Absent in production',
  });

export const mailSentSchema = dataSchema(z.object({ sandboxMail }), 'MailSent');

export const signedInSchema = dataSchema(
  z.object({
    secondFactor: z.boolean().meta({
      description: 'true: send a code to `POST /auth/sessions/second-factor` next. false: you are signed in',
    }),
  }),
  'SignedIn',
);

export const acceptedSchema = dataSchema(
  z.object({
    accountId: z.string(),
    isSignedIn: z.boolean().meta({ description: 'false: sign in with your password' }),
  }),
  'AcceptedInvitation',
);

export const secondFactorSchema = dataSchema(
  z.object({
    otpauthUri: z.string().meta({ description: 'For an authenticator app, as text or as a QR code' }),
    recoveryCodes: z.array(z.string()).meta({
      description: 'Each works once in place of a code. Shown in this answer only: keep them',
    }),
  }),
  'NewSecondFactor',
);

const membership = z
  .object({
    accountId: z.string().meta({ example: 'acc-6f9619ff8b864d0191f1c2d3e4f5a6b7' }),
    accountName: z.string(),
    currency: z.enum(ACCOUNT_CURRENCIES),
    plan: z.enum(PLANS),
    role: z.enum(MEMBER_ROLES),
    permissions: z.array(z.enum(MEMBER_PERMISSIONS)),
  })
  .meta({ id: 'Membership' });

export const currentUserSchema = dataSchema(
  z.object({
    user: z.object({
      userId: z.string().meta({ example: 'user-6f9619ff8b864d0191f1c2d3e4f5a6b7' }),
      email: z.string(),
      name: z.string(),
      hasSecondFactor: z.boolean(),
    }),
    memberships: z.array(membership).meta({ description: 'The accounts that you belong to' }),
    operator: z
      .object({
        personId: z.string(),
        role: z.enum(ROLES),
        permissions: z.array(z.string()).meta({ description: 'As in the document of operators' }),
        actions: z.array(z.string()).meta({ description: 'As in the document of operators' }),
        mustChangePassword: z.boolean().meta({
          description: 'Signed in with a one-time password: choose another first, `POST /auth/me/password`',
        }),
      })
      .nullable()
      .meta({ description: 'What you may do as an operator of this service, if you are one' }),
    environments: z
      .array(z.enum(ENVIRONMENTS))
      .meta({ description: 'The values that `Simway-Environment` may have here' }),
    expiresAt: isoTime('When the session ends; it ends sooner after 30 minutes without a request'),
  }),
  'CurrentUser',
);
