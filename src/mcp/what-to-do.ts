import type { ErrorCode } from '../domain/errors.ts';
import type { ToolKind } from './tools.ts';

const NEW_QUOTE = 'Create a new quote. Nothing was bought.';
const ASK_A_PERSON = 'Nothing was bought. Ask a person; do not try again by yourself.';
const ASK_WHO_KNOWS = 'Ask a person; do not try again by yourself.';
const LATER = 'Wait some seconds, then call it again with the same arguments.';

const KNOWN: Readonly<Partial<Record<ErrorCode, string>>> = {
  VALIDATION_ERROR: 'Correct the arguments that the message names.',
  MISSING_REGION_CODE: 'Give `regionCode`: list_regions finds it.',
  REGION_NOT_FOUND: 'Find the region with list_regions.',
  PACKAGE_NOT_FOUND: 'Choose a package of list_packages.',
  ESIM_NOT_FOUND: 'Find the eSIM with list_esims.',
  NOT_YOUR_ESIM: 'Find the eSIM with list_esims.',
  TRANSACTION_NOT_FOUND: 'Find the purchase with list_purchases.',
  PACKAGE_UNAVAILABLE: 'Nothing was bought. Choose another package of list_packages.',
  INVALID_TOPUP: 'Nothing was bought. Choose another package, or read the eSIM with get_esim.',
  QUOTE_NOT_FOUND: NEW_QUOTE,
  QUOTE_EXPIRED: NEW_QUOTE,
  REFERENCE_ALREADY_USED: 'Nothing more was bought: `details` names the purchase that has this reference.',
  QUOTE_USED: 'Nothing more was bought. To buy once more, create a new quote.',
  QUOTE_MISMATCH: NEW_QUOTE,
  TOO_MANY_OPEN_QUOTES: 'Use a quote that you have, or wait until some have expired.',
  INSUFFICIENT_BALANCE: `The wallet does not hold enough. ${ASK_A_PERSON}`,
  KEY_BUDGET_EXCEEDED: `Stop buying. A person can change the budget in the dashboard. ${ASK_A_PERSON}`,
  FORBIDDEN: 'A person changes what a key may do, on the page API keys of the dashboard. Ask them.',
  IDEMPOTENCY_KEY_IN_USE: `The first call is still running. ${LATER}`,
  SERVICE_UNAVAILABLE: LATER,
  EXCHANGE_RATE_UNAVAILABLE: LATER,
  INTERNAL_ERROR: `${LATER} A quote never buys twice.`,
};

/** Where nothing could have been bought, the model hears nothing of buying. */
const WHILE_READING: Readonly<Partial<Record<ErrorCode, string>>> = { INTERNAL_ERROR: LATER };

/** For a limit of the budget that another package may keep. */
const OTHER_PACKAGE: readonly (readonly [RegExp, string])[] = [
  [/\b(maxPrice|orderAmount) is /, 'Nothing was bought. Choose a cheaper package'],
  [
    /\bcountries is /,
    'Nothing was bought. Choose a package of other countries: get_budget lists those allowed',
  ],
];

/** What a model should do about a refusal, which says more in its message. */
export function whatToDo(code: ErrorCode, kind: ToolKind, message: string): string {
  if (kind === 'read') return WHILE_READING[code] ?? KNOWN[code] ?? ASK_WHO_KNOWS;
  const [, other] =
    (code === 'KEY_BUDGET_EXCEEDED' && OTHER_PACKAGE.find(([limit]) => limit.test(message))) || [];
  if (other !== undefined) return `${other}. A person can change the budget in the dashboard.`;
  // Of an unknown code nobody can say that nothing was bought.
  return KNOWN[code] ?? ASK_WHO_KNOWS;
}
