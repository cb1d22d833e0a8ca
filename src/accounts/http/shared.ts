/** Fields and items that several routes have, and what a role lets an operator do. */
import { z } from 'zod';
import type { Session } from '../../domain/callers.ts';
import { ENVIRONMENTS, SCOPES } from '../../domain/account.ts';
import { ACCOUNT_CURRENCIES } from '../../domain/money.ts';
import { MEMBER_ROLES } from '../../domain/member-roles.ts';
import { may, PERMISSIONS, ROLES, type Role } from '../../domain/operator-roles.ts';
import { isoTime, money, text, yesNo, namedObject, dataObject } from '../../platform/http/answer-fields.ts';
import {
  amountField,
  changesBody,
  countField,
  isCleanText,
  missingOr,
  nameTextField,
  textField,
} from '../../platform/http/fields.ts';
import {
  MAX_ACCOUNT_NAME_CHARACTERS,
  MAX_EMAIL_CHARACTERS,
  MAX_KEY_COUNTRIES,
  MAX_KEY_PURCHASES,
  MAX_PASSWORD_CHARACTERS,
  MAX_PERSON_NAME_CHARACTERS,
  MAX_PRICE_LIMIT_MINOR,
  MAX_SECOND_FACTOR_CHARACTERS,
} from '../../platform/http/limits.ts';
import type { KeyBudget } from '../keys/budget-rules.ts';
import { mayPerform, OPERATOR_ACTIONS } from '../operators/action-table.ts';

export const emailField = (description: string, example = 'ada@merchant.example') =>
  z
    .email({ error: missingOr('must be an e-mail address') })
    .max(MAX_EMAIL_CHARACTERS, `must be at most ${MAX_EMAIL_CHARACTERS} characters long`)
    .refine(isCleanText, 'must be an e-mail address')
    .meta({ description, example });

export const passwordField = (description: string) =>
  textField({ max: MAX_PASSWORD_CHARACTERS, description }).meta({ format: 'password' });

export const newPasswordField = passwordField('At least 12 characters, of any kind, and no common password');

export const personNameField = (description: string) =>
  nameTextField({ max: MAX_PERSON_NAME_CHARACTERS, description, example: 'Ada Lovelace' });

export const companyNameField = (description: string) =>
  nameTextField({ max: MAX_ACCOUNT_NAME_CHARACTERS, description, example: 'Merchant Travel Ltd' });

/** Takes any text: a stricter schema would show which addresses and passwords are possible. */
export const loginFields = (example: string, ofPassword: string) => ({
  email: textField({ max: MAX_EMAIL_CHARACTERS, description: 'In any case', example }),
  password: passwordField(ofPassword),
});

export const passwordChangeBody = (id: string) =>
  namedObject(id, {
    currentPassword: passwordField('The one you signed in with'),
    newPassword: newPasswordField,
  });

export const codeField = (description: string) =>
  textField({ max: MAX_SECOND_FACTOR_CHARACTERS, description, example: '123456' });

const sandboxMail = z
  .object({ to: z.string(), subject: z.string(), text: z.string(), link: z.string() })
  .optional()
  .meta({
    id: 'SandboxMail',
    description:
      'The mail itself, only under `npm start`: no mail server is set, the live environment is off, and the service is reached from its own ' +
      'machine alone. Absent in production',
  });

export const mailSentSchema = dataObject('MailSent', { sandboxMail });

/** What an operator's role lets them do. */
export const allowed = (role: Role) => ({
  permissions: PERMISSIONS.filter((permission) => may(role, permission)),
  actions: OPERATOR_ACTIONS.filter((action) => mayPerform(role, action)),
});

export const memberItem = namedObject('Member', {
  userId: z.string().meta({ example: 'user-6f9619ff8b864d0191f1c2d3e4f5a6b7' }),
  email: z.string(),
  name: z.string(),
  role: z.enum(MEMBER_ROLES),
  hasSecondFactor: z.boolean(),
  joinedAt: isoTime('ISO 8601'),
});

export const recoveryOutcome = z
  .enum(['done', 'waits', 'not-independent'])
  .describe(
    '`waits`: nothing changed yet, another person must ask for the same within 24 hours. `not-independent`: the same; others asked before, ' +
      'and within 24 hours one of the two gave or confirmed access of the other, or a third person did so for both',
  );

const budgetAmount = (description: string, example: number) =>
  amountField({ minMinor: 1n, maxMinor: MAX_PRICE_LIMIT_MINOR, description, example }).optional();

const BUDGET = {
  dailyAmount: 'What the key may spend in one calendar day (UTC)',
  orderAmount: 'What one purchase, or a whole batch, may cost',
  maxPrice: 'What one package may cost',
  maxPurchases: 'How many purchases the key may make in its life',
  countries:
    'ISO 3166-1 alpha-2 codes. The key buys a package only if every country that it covers is among them',
} as const;

/** A limit that is left out does not exist. */
export const budgetBody = changesBody('KeyBudgetRequest', {
  dailyAmount: budgetAmount(BUDGET.dailyAmount, 50_000),
  orderAmount: budgetAmount(BUDGET.orderAmount, 20_000),
  maxPrice: budgetAmount(BUDGET.maxPrice, 10_000),
  maxPurchases: countField({
    min: 1,
    max: MAX_KEY_PURCHASES,
    description: BUDGET.maxPurchases,
    example: 100,
  }).optional(),
  countries: z
    .array(
      z.string('must be a string').regex(/^[A-Z]{2}$/, 'must be a country code of two capital letters'),
      {
        error: missingOr('must be a list'),
      },
    )
    .min(1, 'must have at least one')
    .max(MAX_KEY_COUNTRIES, `must have at most ${MAX_KEY_COUNTRIES}`)
    .optional()
    .meta({ description: BUDGET.countries, example: ['NG', 'GH'] }),
});

export const budgetOf = (body: z.output<typeof budgetBody>): KeyBudget => ({
  dailyAmountMinor: body.dailyAmount ?? null,
  orderAmountMinor: body.orderAmount ?? null,
  maxPriceMinor: body.maxPrice ?? null,
  maxPurchases: body.maxPurchases ?? null,
  countries: body.countries ?? null,
});

export const budgetFields = {
  budget: namedObject('KeyBudget', {
    dailyAmount: money(BUDGET.dailyAmount, 50_000).nullable(),
    orderAmount: money(BUDGET.orderAmount, 20_000).nullable(),
    maxPrice: money(BUDGET.maxPrice, 10_000).nullable(),
    maxPurchases: z.number().int().nullable().describe(BUDGET.maxPurchases),
    countries: z.array(z.string()).nullable().describe(BUDGET.countries),
  })
    .nullable()
    .describe('A limit that is null does not exist; null: the key may spend what the wallet has'),
  left: namedObject('KeyBudgetLeft', {
    dailyAmount: money('Until midnight (UTC); null: no such limit', 12_000).nullable(),
    purchases: z.number().int().nullable().describe('Null: no such limit'),
  })
    .nullable()
    .describe('What is left of it now. A purchase that fails gives its share back'),
  currency: z.enum(ACCOUNT_CURRENCIES),
};

export const budgetSchema = dataObject('KeyBudgetAndLeft', budgetFields);

export const maskedKey = text('Its beginning and its last four characters', 'simway_test_…x9Qa');

export const keyItem = namedObject('ApiKey', {
  keyId: z.string().meta({ example: 'key-6f9619ff8b864d0191f1c2d3e4f5a6b7' }),
  key: maskedKey,
  name: text('What its maker calls it; null: nothing', 'Booking server').nullable(),
  environment: z.enum(ENVIRONMENTS),
  scopes: z.array(z.enum(SCOPES)),
  allowedAddresses: z.array(z.string()),
  companyName: z.string(),
  websiteUrl: text('Empty where none was given', 'https://merchant.example'),
  createdBy: text('Who made it: a member, or an operator', 'ada@merchant.example'),
  createdAt: isoTime('ISO 8601'),
  expiresAt: isoTime('Null: it does not expire').nullable(),
  revokedAt: isoTime('Null: it is not revoked').nullable(),
  lastUsedAt: isoTime('To about five minutes; null: never').nullable(),
});

/** As members see it, who may change what it may spend. */
export const ownKeyItem = keyItem.extend(budgetFields).meta({ id: 'OwnApiKey' });

/** An operator. */
export const who = {
  personId: z.string().meta({ example: 'user-6f9619ff8b864d0191f1c2d3e4f5a6b7' }),
  email: z.string(),
  name: z.string(),
  role: z.enum(ROLES),
  mustChangePassword: yesNo(
    'The password is a one-time password: until the person chooses another, nothing else is allowed',
  ),
};

export const mustAddSecondFactor = yesNo(
  'The role takes a second factor and there is none: until it is set up, everything else is refused with `SECOND_FACTOR_REQUIRED`',
);

export const signedIn = {
  ...who,
  mustAddSecondFactor,
  expiresAt: isoTime('When the session ends; it ends sooner after 30 minutes without a request'),
};

export const sessionSchema = dataObject('NewSession', {
  token: text('For `Authorization: Bearer`. Shown in this answer only'),
  ...signedIn,
});

export const presentSession = ({ person, mustChangePassword, mustAddSecondFactor, expiresAt }: Session) => ({
  ...person,
  ...{ mustChangePassword, mustAddSecondFactor, expiresAt },
});
